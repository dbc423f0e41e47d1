#pragma once

#include <cmath>

namespace sonde {

// Adds as sum() of Python 3.12 and later does: with a second number that catches what rounding
// loses. The last digit of a sum depends on it.
class PythonSum {
 public:
  void add(double x) {
    const double sum = high_ + x;
    low_ += std::fabs(high_) >= std::fabs(x) ? (high_ - sum) + x : (x - sum) + high_;
    high_ = sum;
  }
  double value() const { return low_ != 0 && std::isfinite(low_) ? high_ + low_ : high_; }

 private:
  double high_ = 0;
  double low_ = 0;
};

}  // namespace sonde
