#include "import/input/byte_source.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "tests/support/files.hpp"

namespace sonde {
namespace {

using test::gzip;
using test::zstd;

struct Unpacked {
  std::string text;
  LossLedger losses;
};

// Reads everything in pieces of `step` bytes.
Unpacked unpack(std::string_view packed, std::size_t step = 5'000) {
  Result<OpenedInput> input = open_raw(make_memory_reader(packed));
  EXPECT_TRUE(input.ok());
  Unpacked out;
  std::string piece(step, '\0');
  for (;;) {
    const Result<std::size_t> got = input->source->read(piece);
    EXPECT_TRUE(got.ok());
    out.text.append(piece, 0, *got);
    if (*got < step) break;
  }
  EXPECT_EQ(*input->source->read(piece), 0u) << "after the end there is nothing";
  out.losses = input->source->losses();
  return out;
}

// Text that packs badly enough to have many blocks.
std::string sample_text(std::size_t size, unsigned seed = 1) {
  std::mt19937 random(seed);
  std::string text;
  while (text.size() < size) text += "{\"ts\": " + std::to_string(random()) + "}, ";
  text.resize(size);
  return text;
}

class Sizes : public testing::TestWithParam<std::size_t> {};

TEST_P(Sizes, PlainGzipAndZstdGiveTheSameBytes) {
  const std::string text = sample_text(GetParam());
  for (const std::size_t step : {1'000u, 64u * 1024u, 1'000'000u}) {
    EXPECT_EQ(unpack(text, step).text, text);
    EXPECT_EQ(unpack(gzip(text), step).text, text);
    EXPECT_EQ(unpack(zstd(text), step).text, text);
  }
  EXPECT_TRUE(unpack(gzip(text)).losses.empty());
  EXPECT_TRUE(unpack(zstd(text)).losses.empty());
}

INSTANTIATE_TEST_SUITE_P(AroundTheBuffers, Sizes,
                         testing::Values(0, 1, 4'095, 4'096, 4'097, 64 * 1024, 64 * 1024 + 1,
                                         256 * 1024, 3'000'000));

TEST(ByteSource, TheHeadStaysInTheStream) {
  const std::string text = sample_text(200'000);
  Result<OpenedInput> input = open_raw(make_memory_reader(text));
  ASSERT_TRUE(input.ok());
  EXPECT_EQ(input->head, text.substr(0, kHeadBytes));
  EXPECT_EQ(unpack(text).text, text);
}

TEST(ByteSource, SeveralPackedPartsAreOneText) {
  const std::string a = sample_text(300'000, 1);
  const std::string b = sample_text(100, 2);
  EXPECT_EQ(unpack(gzip(a) + gzip(b) + gzip("") + gzip(a)).text, a + b + a);
  EXPECT_EQ(unpack(zstd(a) + zstd(b) + zstd(a)).text, a + b + a);
  EXPECT_TRUE(unpack(gzip(a) + gzip(b)).losses.empty());
  EXPECT_TRUE(unpack(zstd(a) + zstd(b)).losses.empty());
}

TEST(ByteSource, APartThatBeginsAroundABufferBorderIsFound) {
  // The reader takes 4 KiB first and 256 KiB at a time then. A long file name in the first part's
  // header lets the second part begin at each byte around those borders.
  for (const std::size_t border : {std::size_t{4096}, std::size_t{4096 + 256 * 1024}}) {
    const std::string text = sample_text(border);
    const std::string packed = gzip(text);
    ASSERT_LT(packed.size() + 16, border);
    for (std::size_t size = border - 12; size <= border + 12; ++size) {
      const std::string name(size - packed.size() - 1, 'n');
      const std::string first =
          packed.substr(0, 3) + '\x08' + packed.substr(4, 6) + name + '\0' + packed.substr(10);
      ASSERT_EQ(first.size(), size);
      const Unpacked got = unpack(first + gzip("tail"));
      EXPECT_EQ(got.text, text + "tail") << size;
      EXPECT_TRUE(got.losses.empty()) << size;
    }
  }
}

TEST(ByteSource, ACutGzipFileGivesItsBeginningAndSaysSo) {
  const std::string text = sample_text(500'000);
  const std::string packed = gzip(text);
  for (const std::size_t keep :
       {packed.size() / 2, packed.size() - 9, packed.size() - 8, packed.size() - 1}) {
    const Unpacked got = unpack(packed.substr(0, keep));
    EXPECT_TRUE(text.starts_with(got.text)) << keep;
    EXPECT_GT(got.text.size(), text.size() / 3) << keep;
    ASSERT_NE(got.losses.find("gzip_cut"), nullptr) << keep;
    EXPECT_EQ(got.losses.find("gzip_cut")->severity, Severity::Error);
  }
}

TEST(ByteSource, ACutZstdFileGivesItsBeginningAndSaysSo) {
  const std::string text = sample_text(2'000'000);
  const std::string packed = zstd(text);
  for (const std::size_t keep : {packed.size() / 2, packed.size() - 1}) {
    const Unpacked got = unpack(packed.substr(0, keep));
    EXPECT_TRUE(text.starts_with(got.text)) << keep;
    EXPECT_GT(got.text.size(), text.size() / 4) << keep;
    EXPECT_NE(got.losses.find("zstd_cut"), nullptr) << keep;
  }
}

TEST(ByteSource, AFileCutInItsHeaderGivesNothingAndSaysSo) {
  const std::string packed = gzip("hello");
  for (std::size_t keep = 2; keep < 12; ++keep) {
    const Unpacked got = unpack(packed.substr(0, keep));
    EXPECT_EQ(got.text, "") << keep;
    EXPECT_NE(got.losses.find("gzip_cut"), nullptr) << keep;
  }
  const Unpacked got = unpack(zstd("hello").substr(0, 5));
  EXPECT_EQ(got.text, "");
  EXPECT_NE(got.losses.find("zstd_cut"), nullptr);
}

TEST(ByteSource, BytesBehindThePackedDataArePassedOverAndReported) {
  const std::string text = sample_text(400'000);
  const Unpacked zipped = unpack(gzip(text) + "garbage behind it");
  EXPECT_EQ(zipped.text, text);
  EXPECT_NE(zipped.losses.find("bytes_after_gzip"), nullptr);
  const Unpacked standard = unpack(zstd(text) + "garbage behind it");
  EXPECT_EQ(standard.text, text);
  EXPECT_NE(standard.losses.find("bytes_after_zstd"), nullptr);
}

TEST(ByteSource, DamageInTheMiddleIsReportedAndWhatCameBeforeIsRead) {
  const std::string text = sample_text(1'000'000);
  std::string packed = gzip(text);
  for (std::size_t i = 0; i < 64; ++i) packed[packed.size() / 2 + i] = '\xFF';
  const Unpacked zipped = unpack(packed);
  EXPECT_TRUE(zipped.losses.find("gzip_damaged") != nullptr ||
              zipped.losses.find("gzip_checksum") != nullptr);
  EXPECT_TRUE(text.starts_with(zipped.text.substr(0, text.size() / 3)));

  packed = zstd(text);
  for (std::size_t i = 0; i < 64; ++i) packed[packed.size() / 2 + i] = '\xFF';
  const Unpacked standard = unpack(packed);
  EXPECT_NE(standard.losses.find("zstd_damaged"), nullptr);
}

TEST(ByteSource, AWrongChecksumIsReported) {
  const std::string text = sample_text(100'000);
  std::string packed = gzip(text);
  packed[packed.size() - 8] = static_cast<char>(packed[packed.size() - 8] ^ 1);
  const Unpacked zipped = unpack(packed);
  EXPECT_EQ(zipped.text, text);
  EXPECT_NE(zipped.losses.find("gzip_checksum"), nullptr);

  packed = zstd(text);
  packed.back() = static_cast<char>(packed.back() ^ 1);
  EXPECT_NE(unpack(packed).losses.find("zstd_damaged"), nullptr);
}

TEST(ByteSource, EveryCutOfASmallGzipFileIsABeginning) {
  const std::string text = sample_text(3'000);
  const std::string packed = gzip(text);
  for (std::size_t keep = 2; keep < packed.size(); ++keep) {
    const Unpacked got = unpack(packed.substr(0, keep));
    ASSERT_TRUE(text.starts_with(got.text)) << keep;
    ASSERT_FALSE(got.losses.empty()) << keep;
  }
}

TEST(ByteSource, DamageAtTheVeryEndIsPlacedInsideOfTheFile) {
  // A stream whose last code runs over the end of the input.
  const std::string packed(
      "\x1f\x8b\x08\0\0\0\0\0\x02\x03\x8b\xaeV*\xc8P\xb2R\x8aP\xd2\"%+\xa3\xda\xe7X\0F\xde\x90L&"
      "\0\0\0",
      37);
  const Unpacked got = unpack(packed);
  ASSERT_EQ(got.losses.entries().size(), 1u);
  EXPECT_LE(got.losses.entries()[0].first_offset, packed.size());
}

TEST(ByteSource, AMissingFileIsAnErrorWithItsName) {
  const Result<OpenedInput> input = open_input("/nowhere/at/all.json");
  ASSERT_FALSE(input.ok());
  EXPECT_EQ(input.error().code, ErrorCode::NotFound);
  EXPECT_EQ(input.error().path, "/nowhere/at/all.json");
}

TEST(ByteSource, AFolderIsNoFile) {
  const test::ScratchFolder folder;
  const Result<OpenedInput> input = open_input(folder.path().string());
  ASSERT_FALSE(input.ok());
  EXPECT_NE(input.error().text().find("is a folder"), std::string::npos);
}

TEST(ByteSource, ConsumedCountsTheBytesOnDisk) {
  const std::string packed = gzip(sample_text(1'000'000));
  Result<OpenedInput> input = open_raw(make_memory_reader(packed));
  ASSERT_TRUE(input.ok());
  std::string all(2'000'000, '\0');
  EXPECT_EQ(*input->source->read(all), 1'000'000u);
  EXPECT_EQ(input->source->consumed(), packed.size());
}

}  // namespace
}  // namespace sonde
