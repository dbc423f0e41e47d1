// A library that records; child.cpp loads and closes it.

#include "sonde/sonde.hpp"

extern "C" __attribute__((visibility("default"))) void plugin_record(int count) {
  for (int i = 0; i < count; ++i) {
    SONDE_SCOPE("plugin");
  }
}
