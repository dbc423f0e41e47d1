#include "import/pickle/pickle_reader.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace sonde {
namespace {

using namespace std::string_literals;

PickleDocument parse(const std::string& bytes) {
  Result<PickleDocument> document = PickleDocument::parse(bytes);
  if (!document) {
    ADD_FAILURE() << document.error().text();
    return {};
  }
  return std::move(*document);
}

std::string reason(const std::string& bytes, const PickleLimits& limits = {}) {
  const Result<PickleDocument> document = PickleDocument::parse(bytes, limits);
  return document ? "" : document.error().reason;
}

// {'a': [1, -2, 300, 70000, 2**40, -2**40, 2**70, 1.5, True, None], 'b': ('x', (), {'é'}),
//  'c': b'\0y'}
void expect_all_sorts(const PickleDocument& document) {
  const PickleValue root = document.root();
  ASSERT_EQ(root.type(), PickleType::Dict);
  ASSERT_EQ(root.size(), 3u);
  EXPECT_EQ(root.key(1).text(), "b");
  const PickleValue numbers = root.find("a");
  ASSERT_EQ(numbers.size(), 10u);
  EXPECT_EQ(numbers.item(0).integer(), 1);
  EXPECT_EQ(numbers.item(1).integer(), -2);
  EXPECT_EQ(numbers.item(2).integer(), 300);
  EXPECT_EQ(numbers.item(3).integer(), 70000);
  EXPECT_EQ(numbers.item(4).integer(), std::int64_t{1} << 40);
  EXPECT_EQ(numbers.item(5).integer(), -(std::int64_t{1} << 40));
  EXPECT_EQ(numbers.item(6).type(), PickleType::BigInteger);
  EXPECT_FALSE(numbers.item(6).integer().has_value());
  EXPECT_EQ(numbers.item(7).number(), 1.5);
  EXPECT_EQ(numbers.item(8).type(), PickleType::Boolean);
  EXPECT_EQ(numbers.item(8).integer(), 1);
  EXPECT_TRUE(numbers.item(9).is_none());
  const PickleValue tuple = root.find("b");
  EXPECT_EQ(tuple.type(), PickleType::Tuple);
  EXPECT_EQ(tuple.item(0).text(), "x");
  EXPECT_EQ(tuple.item(1).size(), 0u);
}

TEST(PickleReader, ReadsAllPlainValuesOfProtocols4And5) {
  const std::string body =
      "\x95\x58\0\0\0\0\0\0\0}\x94(\x8c\x01"
      "a\x94]\x94(K\x01J\xfe\xff\xff\xffM,\x01Jp\x11\x01\0\x8a\x06\0\0\0\0\0\x01\x8a\x06\0\0\0\0\0"
      "\xff\x8a\x09\0\0\0\0\0\0\0\0@G?\xf8\0\0\0\0\0\0\x88"
      "Ne\x8c\x01"
      "b\x94\x8c\x01x\x94)\x8f\x94(\x8c\x02\xc3\xa9\x94\x90\x87\x94\x8c\x01"
      "c\x94"
      "C\x02\0y\x94u."s;
  for (const char protocol : {'\x04', '\x05'}) {
    const PickleDocument document = parse("\x80"s + protocol + body);
    expect_all_sorts(document);
    const PickleValue set = document.root().find("b").item(2);
    EXPECT_EQ(set.type(), PickleType::Set);
    EXPECT_EQ(set.item(0).text(), "é");
    EXPECT_EQ(document.root().find("c").type(), PickleType::Bytes);
    EXPECT_EQ(document.root().find("c").text(), "\0y"s);
    EXPECT_EQ(document.bytes_behind(), 0u);
  }
}

TEST(PickleReader, ReadsProtocol2AndKeepsCallsInert) {
  // Python writes sets and bytes of protocol 2 as calls: those stay names and arguments.
  const PickleDocument document = parse(
      "\x80\x02}q\0(X\x01\0\0\0aq\x01]q\x02(K\x01J\xfe\xff\xff\xffM,\x01Jp\x11\x01\0\x8a\x06\0\0\0"
      "\0\0\x01\x8a\x06\0\0\0\0\0\xff\x8a\x09\0\0\0\0\0\0\0\0@G?\xf8\0\0\0\0\0\0\x88NeX\x01\0\0\0"
      "bq\x03X\x01\0\0\0xq\x04)c__builtin__\nset\nq\x05]q\x06X\x02\0\0\0\xc3\xa9q\x07"
      "a\x85q\x08Rq\x09\x87q\nX\x01\0\0\0cq\x0b"
      "c_codecs\nencode\nq\x0cX\x02\0\0\0\0yq\rX\x06\0\0\0latin1q\x0e\x86q\x0fRq\x10u."s);
  expect_all_sorts(document);
  const PickleValue set = document.root().find("b").item(2);
  ASSERT_EQ(set.type(), PickleType::Object);
  EXPECT_EQ(set.module(), "__builtin__");
  EXPECT_EQ(set.name(), "set");
  EXPECT_EQ(set.arguments().item(0).item(0).text(), "é");
  EXPECT_EQ(document.root().find("c").name(), "encode");
}

TEST(PickleReader, KeepsStateAndAdditionsOfObjects) {
  // NEWOBJ and BUILD, as a class instance; REDUCE and SETITEMS, as an OrderedDict.
  const PickleDocument object = parse(
      "\x80\x04\x8c\x01m\x8c\x01"
      "C\x93)\x81}\x8c\x04unitG?\xf0\0\0\0\0\0\0sb."s);
  EXPECT_EQ(object.root().module(), "m");
  EXPECT_EQ(object.root().name(), "C");
  EXPECT_EQ(object.root().arguments().type(), PickleType::Tuple);
  EXPECT_EQ(object.root().state().find("unit").number(), 1.0);
  EXPECT_TRUE(object.root().state().has("unit"));
  EXPECT_FALSE(object.root().state().has("Unit"));

  const PickleDocument mapping = parse(
      "\x80\x04\x8c\x0b"
      "collections\x8c\x0bOrderedDict\x93)R(\x8c\x01kK\x07u."s);
  EXPECT_EQ(mapping.root().size(), 1u);
  EXPECT_EQ(mapping.root().find("k").integer(), 7);
  EXPECT_TRUE(mapping.root().item(0).is_none());
}

TEST(PickleReader, SharedValuesHaveOneIdAndListsMayHoldThemselves) {
  const PickleDocument document = parse(
      "\x80\x04]\x94(h\0K\x05]\x94h\x01"
      "e."s);
  const PickleValue root = document.root();
  EXPECT_EQ(root.item(0).id(), root.id());
  EXPECT_EQ(root.item(2).id(), root.item(3).id());
  EXPECT_LT(root.item(2).id(), document.value_count());
}

TEST(PickleReader, LastMemberOfAKeyWins) {
  const PickleDocument document = parse("\x80\x04}(\x8c\x01kK\x01\x8c\x01kK\x02u.tail"s);
  EXPECT_EQ(document.root().find("k").integer(), 2);
  EXPECT_EQ(document.bytes_behind(), 4u);
}

TEST(PickleReader, WrongQuestionsGiveNothing) {
  const PickleDocument document = parse("\x80\x04K\x01."s);
  const PickleValue one = document.root();
  EXPECT_EQ(one.text(), "");
  EXPECT_EQ(one.size(), 0u);
  EXPECT_TRUE(one.item(0).is_none());
  EXPECT_TRUE(one.key(3).is_none());
  EXPECT_TRUE(one.find("x").is_none());
  EXPECT_TRUE(one.state().is_none());
  EXPECT_EQ(one.module(), "");
  EXPECT_EQ(PickleValue().size(), 0u);
}

TEST(PickleReader, RefusesDamageWithAReason) {
  EXPECT_EQ(reason(""), "the pickle ends before its end mark");
  EXPECT_EQ(reason("\x80\x04]"), "the pickle ends before its end mark");
  EXPECT_EQ(reason("\x80\x04."), "the pickle holds no value");
  EXPECT_EQ(reason("\x80\x09N."), "broken pickle: pickle protocol 9 is too new");
  EXPECT_EQ(reason("\x80\x04\x8c\xff"
                   "abc"),
            "broken pickle: a text reaches beyond the end: the file was cut");
  EXPECT_EQ(reason("\x80\x04\x8d\xff\xff\xff\xff\xff\xff\xff\xff."),
            "broken pickle: a text reaches beyond the end: the file was cut");
  EXPECT_EQ(reason("\x80\x04\x95\xff\xff\xff\xff\xff\xff\xff\x7fN."),
            "broken pickle: a frame reaches beyond the end: the file was cut");
  EXPECT_EQ(reason("\x80\x04h\x05."), "broken pickle: a value is used that was never remembered");
  EXPECT_EQ(reason("\x80\x04Na."), "broken pickle: items without a list");
  EXPECT_EQ(reason("\x80\x04NNa."), "broken pickle: items are added to what is no list");
  EXPECT_EQ(reason("\x80\x04}(Nu."), "broken pickle: a key without a value");
  EXPECT_EQ(reason("\x80\x04u."), "broken pickle: an opcode takes a value that is not there");
  EXPECT_EQ(reason("\x80\x04NNb."), "broken pickle: a state is given to what is no object");
  EXPECT_EQ(reason("\x80\x04\xff."), "broken pickle: 0xff is no opcode that Sonde knows");
}

TEST(PickleReader, KeepsToItsLimits) {
  PickleLimits limits;
  limits.max_values = 10;
  EXPECT_EQ(reason("\x80\x04" + std::string(20, ']') + ".", limits),
            "broken pickle: more than 10 values");
  EXPECT_EQ(reason("\x80\x04" + std::string(20, 'N') + ".", limits),
            "broken pickle: too many values on the stack");
  limits.max_bytes = 4;
  EXPECT_EQ(reason("\x80\x04NN0.", limits), "the pickle is larger than Sonde reads");
  // A memo number takes no memory of its size.
  EXPECT_EQ(parse("\x80\x04Nr\xff\xff\xff\xffj\xff\xff\xff\xff."s).value_count(), 1u);
}

TEST(PickleReader, NoPrefixDoesHarm) {
  const std::string whole =
      "\x80\x04\x8c\x01m\x8c\x01"
      "C\x93)\x81}\x8c\x04unitG?\xf0\0\0\0\0\0\0sb."s;
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_NE(reason(whole.substr(0, size)), "") << size;
  }
}

TEST(PickleReader, KnowsAPickleByItsHead) {
  EXPECT_TRUE(looks_like_pickle("\x80\x04\x95"));
  EXPECT_FALSE(looks_like_pickle("\x80\x06\x95"));
  EXPECT_FALSE(looks_like_pickle("{}"));
}

}  // namespace
}  // namespace sonde
