#include "report/table.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "base/json_writer.hpp"
#include "base/utf8.hpp"
#include "report/paint.hpp"
#include "report/wrap.hpp"

namespace sonde {
namespace {

Table sample() {
  Table table;
  table.columns = {{.key = "name", .header = "Name"},
                   {.key = "calls", .header = "Calls", .type = CellType::Integer},
                   {.key = "total_ns", .header = "Total", .type = CellType::Duration},
                   {.key = "share_percent", .header = "Share", .type = CellType::Percent}};
  table.rows = {{std::string("aten::mm"), std::int64_t{1200}, std::int64_t{1'500'000}, 75.0},
                {std::string("a,b|\"c\""), std::int64_t{3}, std::int64_t{500}, 0.01},
                {std::string("none"), Cell(), Cell(), Cell()}};
  return table;
}

std::size_t widest_line(const std::string& text) {
  std::istringstream in(text);
  std::string line;
  std::size_t widest = 0;
  while (std::getline(in, line)) widest = std::max(widest, display_width(line));
  return widest;
}

TEST(TextTable, AlignsNumbersRightAndNamesLeft) {
  EXPECT_EQ(render_text(sample(), {}),
            "Name      Calls    Total  Share\n"
            "-------------------------------\n"
            "aten::mm  1,200  1.50 ms  75.0%\n"
            "a,b|\"c\"       3   500 ns  <0.1%\n"
            "none          -        -      -\n");
}

TEST(TextTable, FitsTheWidth) {
  Table table = sample();
  table.rows[0][0] = std::string(500, 'x');
  for (const std::size_t width : {40u, 60u, 100u, 200u}) {
    EXPECT_LE(widest_line(render_text(table, {.width = width})), width);
  }
}

TEST(TextTable, LeavesOutTheLeastImportantColumnFirst) {
  Table table = sample();
  table.columns[1].drop = 1;
  table.columns[2].drop = 2;
  const std::string text = render_text(table, {.width = 22});
  EXPECT_NE(text.find("Calls"), std::string::npos);
  EXPECT_EQ(text.find("Total"), std::string::npos);
}

TEST(TextTable, ShortensInTheMiddleOrAtTheEnd) {
  EXPECT_EQ(shorten("0123456789", 7, Cut::End, "..."), "0123...");
  EXPECT_EQ(shorten("0123456789", 7, Cut::Middle, "..."), "01...89");
  EXPECT_EQ(shorten("0123456789", 7, Cut::Middle, "…"), "012…789");
  EXPECT_EQ(shorten("0123456789", 10, Cut::Middle, "..."), "0123456789");
  EXPECT_EQ(shorten("0123456789", 2, Cut::End, "..."), "..");
}

TEST(TextTable, NeverCutsACharacterInTwo) {
  const std::string text = "日本語日本語";
  EXPECT_EQ(display_width(text), 12u);
  EXPECT_EQ(shorten(text, 7, Cut::End, "…"), "日本語…");
  EXPECT_EQ(shorten(text, 7, Cut::Middle, "…"), "日…語");
}

TEST(TextTable, HidesColumnsOfZeros) {
  Table table;
  table.columns = {{.key = "name", .header = "Name"},
                   {.key = "a", .header = "Aaa", .type = CellType::Integer, .hide_zero = true},
                   {.key = "b", .header = "Bbb", .type = CellType::Integer, .hide_zero = true}};
  table.rows = {{std::string("x"), std::int64_t{0}, std::int64_t{1}}};
  EXPECT_EQ(render_text(table, {}), "Name  Bbb\n---------\nx       1\n");
  EXPECT_EQ(render_csv(table), "name,a,b\nx,0,1\n");
}

TEST(TextTable, DrawsBars) {
  Table table;
  table.columns = {{.key = "p", .header = "Share", .type = CellType::Percent, .bar = true}};
  table.rows = {{50.0}, {0.0}};
  EXPECT_EQ(render_text(table, {.width = 27}),
            "Share\n---------------------------\n50.0%  ##########\n 0.0%\n");
  EXPECT_EQ(draw_bar(0.5, 3, true), "█▌");
  EXPECT_EQ(draw_bar(1e-9, 3, true), "▏");
  EXPECT_EQ(draw_bar(7, 3, false), "###");
}

TEST(TextTable, PaintsOnlyWhenAsked) {
  EXPECT_EQ(render_text(sample(), {}).find('\x1b'), std::string::npos);
  EXPECT_NE(render_text(sample(), {.color = true}).find("\x1b[1m"), std::string::npos);
}

TEST(CsvTable, QuotesAndKeepsRawNumbers) {
  EXPECT_EQ(render_csv(sample()),
            "name,calls,total_ns,share_percent\n"
            "aten::mm,1200,1500000,75\n"
            "\"a,b|\"\"c\"\"\",3,500,0.01\n"
            "none,,,\n");
}

TEST(MarkdownTable, EscapesWhatWouldBreakIt) {
  Table table = sample();
  table.rows = {{std::string("a|b <i>*x*</i> `c`"), std::int64_t{1}, Cell(), Cell()}};
  EXPECT_EQ(render_markdown(table),
            "| Name | Calls | Total | Share |\n"
            "| --- | ---: | ---: | ---: |\n"
            "| a\\|b &lt;i&gt;\\*x\\*&lt;/i&gt; \\`c\\` | 1 | - | - |\n");
}

TEST(JsonTable, KeepsRawNumbersAndNulls) {
  JsonWriter json;
  write_json(json, sample());
  EXPECT_EQ(json.take(),
            "[{\"name\": \"aten::mm\", \"calls\": 1200, \"total_ns\": 1500000, \"share_percent\": "
            "75.0}, {\"name\": \"a,b|\\\"c\\\"\", \"calls\": 3, \"total_ns\": 500, "
            "\"share_percent\": 0.01}, {\"name\": \"none\", \"calls\": null, \"total_ns\": null, "
            "\"share_percent\": null}]");
}

// What a name in a trace may hold, and what no output may hold.
const std::vector<std::string> kHostile = {
    "\x1b[2J\x1b]0;title\x07",   // clears the screen, sets the title
    "line\nbreak\rreturn\ttab",  // begins a row of its own
    "\xC2\x9B"
    "31m",                      // the one-character form of ESC [
    "\xFF\xFE\x80 bytes \xC3",  // not UTF-8
    "\xED\xA0\x80 surrogate",   // UTF-8 of half a pair
    "\xE2\x80\xAE"
    "reversed",  // turns the writing direction
    std::string("nul\0byte", 8),
    "\x7F"
    "delete\x08"
    "back",
};

bool harmless(const std::string& text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c < 0x20 && c != '\n') return false;
    if (c == 0xC2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xA0)
      return false;
  }
  return text.find("\xE2\x80\xAE") == std::string::npos && is_utf8(text);
}

TEST(HostileNames, AreHarmlessInEveryFormat) {
  for (const std::string& name : kHostile) {
    Table table = sample();
    table.rows = {{name, std::int64_t{1}, Cell(), Cell()}};
    for (const std::string& text :
         {render_text(table, {}), render_csv(table), render_markdown(table)}) {
      EXPECT_TRUE(harmless(text)) << text;
      EXPECT_EQ(text.find('\x7F'), std::string::npos);
    }
    const std::string csv = render_csv(table);
    const std::string markdown = render_markdown(table);
    EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 2);
    EXPECT_EQ(std::count(markdown.begin(), markdown.end(), '\n'), 3);
    JsonWriter json;
    write_json(json, table);
    EXPECT_TRUE(harmless(json.text())) << json.text();
  }
}

TEST(WrapText, BreaksBetweenWordsAndKeepsParagraphs) {
  EXPECT_EQ(wrap_text("one two three", 8, ""), "one two\nthree\n");
  EXPECT_EQ(wrap_text("one two three", 9, "  "), "  one two\n  three\n");
  EXPECT_EQ(wrap_text("a\n\nb", 9, ""), "a\n\nb\n");
}

TEST(WrapText, BreaksAWordThatIsLongerThanALine) {
  EXPECT_EQ(wrap_text("0123456789", 4, ""), "0123\n4567\n89\n");
  EXPECT_EQ(wrap_text("ab 0123456789", 6, " "), " ab\n 01234\n 56789\n");
}

}  // namespace
}  // namespace sonde
