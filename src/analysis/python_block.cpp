#include <algorithm>
#include <cctype>
#include <cstdint>

#include "analysis/source_lines.hpp"

// Finds the end of a function in Python source: a tokenizer that knows just enough of the language,
// and the rules of Python's inspect module on top of it.

namespace sonde {
namespace {

enum class Token { Word, Other, Newline, BlankNewline, Comment, Indent, Dedent, End };

// Takes tokens until the block's end is known.
class BlockEnd {
 public:
  // False: the block has ended, no more tokens are wanted.
  bool take(Token type, std::string_view text, std::size_t row, std::size_t column) {
    if (!started_ && !in_decorator_) {
      if (text == "@") {
        in_decorator_ = true;
      } else if (text == "def" || text == "class" || text == "lambda") {
        is_lambda_ = text == "lambda";
        started_ = true;
      }
      skip_line_ = true;
      return true;
    }
    if (type == Token::Newline) {
      skip_line_ = false;
      last_ = row;
      if (is_lambda_) return false;
      in_decorator_ = false;
      return true;
    }
    if (skip_line_) return true;
    switch (type) {
      case Token::Indent:
        if (!has_body_ && started_) {
          has_body_ = true;
          body_column_ = column;
        }
        ++depth_;
        skip_line_ = true;
        return true;
      case Token::Dedent:
        return --depth_ > 0;
      case Token::Comment:
        // Behind the last statement it belongs to the block if it stands as far to the right.
        if (has_body_ && column >= body_column_) last_ = row;
        return true;
      case Token::BlankNewline:
        return true;
      default:
        return depth_ != 0;
    }
  }

  std::size_t last() const { return last_; }

 private:
  bool started_ = false;
  bool in_decorator_ = false;
  bool is_lambda_ = false;
  bool skip_line_ = false;
  bool has_body_ = false;
  std::size_t body_column_ = 0;
  std::int64_t depth_ = 0;
  std::size_t last_ = 1;
};

bool is_word(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte >= 0x80 || std::isalnum(byte) != 0 || c == '_';
}

bool is_string_prefix(std::string_view word) {
  if (word.size() > 2) return false;
  return std::all_of(word.begin(), word.end(), [](char c) {
    return std::string_view("bBrRuUfFtT").find(c) != std::string_view::npos;
  });
}

class Tokenizer {
 public:
  Tokenizer(std::span<const std::string> lines, BlockEnd& sink) : lines_(lines), sink_(sink) {}

  void run() {
    for (row_ = 1; row_ <= lines_.size(); ++row_) {
      if (!take_line(lines_[row_ - 1])) return;
    }
    if (in_string_ || open_brackets_ != 0 || continued_) return;  // the source breaks off
    for (std::size_t i = 1; i < indents_.size(); ++i) {
      if (!emit(Token::Dedent, {}, 0)) return;
    }
    emit(Token::End, {}, 0);
  }

 private:
  bool emit(Token type, std::string_view text, std::size_t column) {
    return sink_.take(type, text, row_, column);
  }

  bool take_line(std::string_view line) {
    std::size_t at = 0;
    if (in_string_) {
      at = string_end(line, 0);
      if (at == std::string_view::npos) {
        // A string in single quotes goes on only behind a backslash.
        if (!triple_ && !line.ends_with('\\')) in_string_ = false;
        return true;
      }
      in_string_ = false;
      if (!emit(Token::Other, {}, at)) return false;
    } else if (open_brackets_ == 0 && !continued_) {
      if (!take_indent(line, at)) return false;
      if (at == std::string_view::npos) return true;
    }
    continued_ = false;
    return take_tokens(line, at);
  }

  // Measures the blanks before a statement. `at`: where it begins; npos where the line has none.
  bool take_indent(std::string_view line, std::size_t& at) {
    constexpr std::size_t kTab = 8;
    std::size_t width = 0;
    for (; at < line.size(); ++at) {
      if (line[at] == ' ') {
        ++width;
      } else if (line[at] == '\t') {
        width = (width / kTab + 1) * kTab;
      } else if (line[at] == '\f') {
        width = 0;
      } else {
        break;
      }
    }
    if (at == line.size() || line[at] == '#') {
      const std::size_t column = at;
      const bool comment = at < line.size();
      at = std::string_view::npos;
      if (comment && !emit(Token::Comment, {}, column)) return false;
      return emit(Token::BlankNewline, {}, column);
    }
    if (width > indents_.back()) {
      indents_.push_back(width);
      if (!emit(Token::Indent, {}, at)) return false;
    }
    while (width < indents_.back()) {
      if (std::find(indents_.begin(), indents_.end(), width) == indents_.end()) return false;
      indents_.pop_back();
      if (!emit(Token::Dedent, {}, at)) return false;
    }
    return true;
  }

  bool take_tokens(std::string_view line, std::size_t at) {
    while (at < line.size()) {
      const char c = line[at];
      if (c == ' ' || c == '\t' || c == '\f') {
        ++at;
      } else if (c == '#') {
        if (!emit(Token::Comment, {}, at)) return false;
        break;
      } else if (c == '\\' && at + 1 == line.size()) {
        continued_ = true;
        return true;
      } else if (c == '"' || c == '\'') {
        if (!take_string(line, at)) return false;
        if (in_string_) return true;
      } else if (is_word(c)) {
        const std::size_t begin = at;
        while (at < line.size() && is_word(line[at])) ++at;
        const std::string_view word = line.substr(begin, at - begin);
        const bool quoted = at < line.size() && (line[at] == '"' || line[at] == '\'');
        if (quoted && is_string_prefix(word)) continue;
        if (!emit(Token::Word, word, begin)) return false;
      } else {
        if (c == '(' || c == '[' || c == '{') ++open_brackets_;
        if (c == ')' || c == ']' || c == '}') --open_brackets_;
        if (!emit(Token::Other, line.substr(at, 1), at)) return false;
        ++at;
      }
    }
    return emit(open_brackets_ > 0 ? Token::BlankNewline : Token::Newline, {}, line.size());
  }

  bool take_string(std::string_view line, std::size_t& at) {
    quote_ = line[at];
    const std::size_t begin = at;
    triple_ = line.substr(at).starts_with(std::string(3, quote_));
    const std::size_t end = string_end(line, at + (triple_ ? 3 : 1));
    if (end != std::string_view::npos) {
      at = end;
    } else if (triple_ || line.ends_with('\\')) {
      in_string_ = true;
      return true;
    } else {
      ++at;  // a quote that opens nothing
    }
    return emit(Token::Other, {}, begin);
  }

  // Behind the closing quotes; npos where the line does not have them.
  std::size_t string_end(std::string_view line, std::size_t at) const {
    const std::string close(triple_ ? 3 : 1, quote_);
    for (; at < line.size(); ++at) {
      if (line[at] == '\\') {
        ++at;
      } else if (line.substr(at).starts_with(close)) {
        return at + close.size();
      }
    }
    return std::string_view::npos;
  }

  std::span<const std::string> lines_;
  BlockEnd& sink_;
  std::size_t row_ = 1;
  std::vector<std::size_t> indents_{0};
  std::int64_t open_brackets_ = 0;  // below 0 in a piece that begins inside of brackets
  bool continued_ = false;
  bool in_string_ = false;
  bool triple_ = false;
  char quote_ = '"';
};

}  // namespace

std::size_t python_block_length(std::span<const std::string> lines) {
  BlockEnd end;
  Tokenizer(lines, end).run();
  return std::min(end.last(), lines.size());
}

}  // namespace sonde
