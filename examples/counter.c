/* Sonde's recorder from plain C: a program that counts words in its input, line by line.
 *
 *   sonde run -- counter < FILE
 */
#include <ctype.h>
#include <sonde/sonde.h>
#include <stdio.h>
#include <string.h>

static sonde_domain text_domain = SONDE_DOMAIN_INIT("text");
static sonde_counter words_so_far = {SONDE_NAME_INIT("words"), &text_domain, 0};

static int count_words(const char* line) {
  static sonde_name name = SONDE_NAME_INIT("count_words");
  sonde_scope scope;
  sonde_begin(&scope, &name, &text_domain, SONDE_KIND_RANGE);
  int words = 0;
  int inside = 0;
  for (; *line; ++line) {
    const int letter = !isspace((unsigned char)*line);
    if (letter && !inside) ++words;
    inside = letter;
  }
  sonde_end(&scope);
  return words;
}

int main(void) {
  static sonde_name done = SONDE_NAME_INIT("end of input");
  char line[4096];
  long lines = 0;
  long words = 0;
  sonde_name_process("counter");
  while (fgets(line, sizeof(line), stdin)) {
    const int here = count_words(line);
    sonde_counter_add(&words_so_far, here);
    words += here;
    ++lines;
  }
  sonde_marker(&done, &text_domain, 'p');
  printf("%ld lines, %ld words\n", lines, words);
  return 0;
}
