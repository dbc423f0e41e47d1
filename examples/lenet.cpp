// Trains a small convolutional network on digits that it draws itself, the way a framework would:
// an API layer on top, operators below it, a memory pool for tensors, a thread that loads data, and
// all cores at work. It is instrumented with Sonde's recorder as a framework would be.
//
//   sonde run -- lenet [steps] [batch]
//
// Prints the loss as it falls; exits with 1 where it does not.

#include <sonde/sonde.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

namespace {

// ---- Workers: one loop split over all cores ---------------------------------------------------

class Workers {
 public:
  explicit Workers(unsigned count) {
    for (unsigned i = 1; i < count; ++i) threads_.emplace_back([this, i] { serve(i); });
  }
  ~Workers() {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      ending_ = true;
    }
    wake_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

  // Calls body(i) for each i below count, on all cores; returns when all are done.
  void each(int count, const std::function<void(int)>& body) {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      body_ = &body;
      count_ = count;
      next_ = 0;
      running_ = static_cast<int>(threads_.size());
      ++round_;
    }
    wake_.notify_all();
    work(body, count);
    std::unique_lock<std::mutex> lock(mutex_);
    done_.wait(lock, [this] { return running_ == 0; });
  }

 private:
  void serve(unsigned number) {
    char name[32];
    std::snprintf(name, sizeof(name), "worker %u", number);
    sonde_name_thread(name);
    std::uint64_t seen = 0;
    for (;;) {
      const std::function<void(int)>* body = nullptr;
      int count = 0;
      {
        std::unique_lock<std::mutex> lock(mutex_);
        wake_.wait(lock, [&] { return ending_ || round_ != seen; });
        if (ending_) return;
        seen = round_;
        body = body_;
        count = count_;
      }
      work(*body, count);
      const std::lock_guard<std::mutex> lock(mutex_);
      if (--running_ == 0) done_.notify_one();
    }
  }

  void work(const std::function<void(int)>& body, int count) {
    for (int i; (i = next_.fetch_add(1)) < count;) body(i);
  }

  std::vector<std::thread> threads_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable done_;
  const std::function<void(int)>* body_ = nullptr;
  int count_ = 0;
  int running_ = 0;
  std::uint64_t round_ = 0;
  std::atomic<int> next_{0};
  bool ending_ = false;
};

Workers& workers() {
  static Workers all(std::max(1u, std::thread::hardware_concurrency()));
  return all;
}

// ---- Memory pool and tensors --------------------------------------------------------------------

// Keeps freed blocks for the next tensor of the same size, as frameworks do.
class Pool {
 public:
  float* take(std::size_t floats, sonde::Name& tag) {
    float* block = nullptr;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      for (std::size_t i = 0; i < free_.size() && block == nullptr; ++i) {
        if (free_[i].floats != floats) continue;
        block = free_[i].memory;
        free_[i] = free_.back();
        free_.pop_back();
      }
    }
    if (block == nullptr) block = new float[floats];
    sonde_allocated(SONDE_DEVICE_CPU, 0, storage().get(), block, floats * sizeof(float), tag.get());
    held_ += static_cast<std::int64_t>(floats * sizeof(float));
    memory().set(held_);
    return block;
  }

  void give(float* block, std::size_t floats, sonde::Name& tag) {
    sonde_freed(SONDE_DEVICE_CPU, 0, storage().get(), block, floats * sizeof(float), tag.get());
    held_ -= static_cast<std::int64_t>(floats * sizeof(float));
    memory().set(held_);
    const std::lock_guard<std::mutex> lock(mutex_);
    free_.push_back({block, floats});
  }

  ~Pool() {
    for (const Block& block : free_) delete[] block.memory;
  }

 private:
  struct Block {
    float* memory;
    std::size_t floats;
  };

  static sonde::Domain& storage() {
    static sonde::Domain domain("Device Storage");
    return domain;
  }
  static sonde::Counter& memory() {
    static sonde::Counter counter(storage(), "Memory: cpu/0");
    return counter;
  }

  std::mutex mutex_;
  std::vector<Block> free_;
  std::atomic<std::int64_t> held_{0};
};

Pool& pool() {
  static Pool memory;
  return memory;
}

struct Shape {
  int n = 1, c = 1, h = 1, w = 1;
  std::size_t size() const { return static_cast<std::size_t>(n) * c * h * w; }
  std::size_t sample() const { return static_cast<std::size_t>(c) * h * w; }
};

class Tensor {
 public:
  Tensor() = default;
  Tensor(Shape shape, sonde::Name& tag)
      : shape_(shape), tag_(&tag), data_(pool().take(shape.size(), tag)) {}
  Tensor(Tensor&& other) noexcept { *this = std::move(other); }
  Tensor& operator=(Tensor&& other) noexcept {
    std::swap(shape_, other.shape_);
    std::swap(tag_, other.tag_);
    std::swap(data_, other.data_);
    return *this;
  }
  ~Tensor() {
    if (data_ != nullptr) pool().give(data_, shape_.size(), *tag_);
  }

  const Shape& shape() const { return shape_; }
  float* data() { return data_; }
  const float* data() const { return data_; }
  float* sample(int i) { return data_ + static_cast<std::size_t>(i) * shape_.sample(); }
  const float* sample(int i) const { return data_ + static_cast<std::size_t>(i) * shape_.sample(); }
  void fill(float value) { std::fill_n(data_, shape_.size(), value); }

 private:
  Shape shape_;
  sonde::Name* tag_ = nullptr;
  float* data_ = nullptr;
};

// A weight, its gradient and its momentum.
struct Parameter {
  Tensor value, gradient, velocity;
  Parameter(Shape shape, float spread, std::mt19937& random) {
    static sonde::Name tag("parameter");
    value = Tensor(shape, tag);
    gradient = Tensor(shape, tag);
    velocity = Tensor(shape, tag);
    std::normal_distribution<float> draw(0.0f, spread);
    for (std::size_t i = 0; i < shape.size(); ++i) value.data()[i] = draw(random);
    gradient.fill(0);
    velocity.fill(0);
  }
};

sonde::Name& activation_tag() {
  static sonde::Name tag("activation");
  return tag;
}

sonde::Domain& api() {
  static sonde::Domain domain("LENET_API");
  return domain;
}

// Every call of the API counts, as frameworks do.
sonde::Counter& api_calls() {
  static sonde::Counter counter(api(), "LeNet API Calls");
  return counter;
}

// ---- Operators
// ------------------------------------------------------------------------------------

// Gradients of weights are summed over the batch: each sample adds to a copy of its own slot, the
// slots are added up at the end, so that the sum does not depend on the order of the threads.
constexpr int kSlots = 8;

void sum_slots(const std::vector<float>& slots, Tensor& gradient) {
  const std::size_t size = gradient.shape().size();
  for (int slot = 0; slot < kSlots; ++slot) {
    for (std::size_t i = 0; i < size; ++i)
      gradient.data()[i] += slots[static_cast<std::size_t>(slot) * size + i];
  }
}

// Calls body(sample, slot); all samples of a slot run one after the other.
void each_sample(int batch, const std::function<void(int, int)>& body) {
  workers().each(kSlots, [&](int slot) {
    for (int i = slot; i < batch; i += kSlots) body(i, slot);
  });
}

class Convolution {
 public:
  Convolution(int in, int out, int kernel, std::mt19937& random)
      : kernel_(kernel),
        weight_({out, in, kernel, kernel},
                std::sqrt(2.0f / static_cast<float>(in * kernel * kernel)), random),
        bias_({1, out, 1, 1}, 0.0f, random) {}

  Tensor forward(const Tensor& x) {
    SONDE_OPERATOR("Convolution");
    const Shape in = x.shape();
    const Shape& w = weight_.value.shape();
    Tensor y({in.n, w.n, in.h - kernel_ + 1, in.w - kernel_ + 1}, activation_tag());
    const Shape out = y.shape();
    each_sample(in.n, [&](int n, int) {
      const float* from = x.sample(n);
      float* to = y.sample(n);
      for (int o = 0; o < out.c; ++o) {
        float* plane = to + o * out.h * out.w;
        std::fill_n(plane, out.h * out.w, bias_.value.data()[o]);
        for (int c = 0; c < in.c; ++c) {
          for (int ky = 0; ky < kernel_; ++ky) {
            for (int kx = 0; kx < kernel_; ++kx) {
              const float k = weight_.value.data()[((o * in.c + c) * kernel_ + ky) * kernel_ + kx];
              for (int y0 = 0; y0 < out.h; ++y0) {
                const float* row = from + (c * in.h + y0 + ky) * in.w + kx;
                float* sum = plane + y0 * out.w;
                for (int x0 = 0; x0 < out.w; ++x0) sum[x0] += k * row[x0];
              }
            }
          }
        }
      }
    });
    return y;
  }

  Tensor backward(const Tensor& x, const Tensor& dy) {
    SONDE_OPERATOR("_backward_Convolution");
    const Shape in = x.shape();
    const Shape out = dy.shape();
    Tensor dx(in, activation_tag());
    const std::size_t weights = weight_.value.shape().size();
    std::vector<float> weight_slots(weights * kSlots, 0.0f);
    std::vector<float> bias_slots(static_cast<std::size_t>(out.c) * kSlots, 0.0f);
    each_sample(in.n, [&](int n, int slot) {
      const float* from = x.sample(n);
      const float* above = dy.sample(n);
      float* below = dx.sample(n);
      std::fill_n(below, in.sample(), 0.0f);
      float* dw = weight_slots.data() + static_cast<std::size_t>(slot) * weights;
      float* db = bias_slots.data() + slot * out.c;
      for (int o = 0; o < out.c; ++o) {
        const float* plane = above + o * out.h * out.w;
        for (int i = 0; i < out.h * out.w; ++i) db[o] += plane[i];
        for (int c = 0; c < in.c; ++c) {
          for (int ky = 0; ky < kernel_; ++ky) {
            for (int kx = 0; kx < kernel_; ++kx) {
              const int at = ((o * in.c + c) * kernel_ + ky) * kernel_ + kx;
              const float k = weight_.value.data()[at];
              float sum = 0;
              for (int y0 = 0; y0 < out.h; ++y0) {
                const std::size_t row = static_cast<std::size_t>(c * in.h + y0 + ky) * in.w + kx;
                const float* d = plane + y0 * out.w;
                for (int x0 = 0; x0 < out.w; ++x0) {
                  sum += d[x0] * from[row + static_cast<std::size_t>(x0)];
                  below[row + static_cast<std::size_t>(x0)] += k * d[x0];
                }
              }
              dw[at] += sum;
            }
          }
        }
      }
    });
    sum_slots(weight_slots, weight_.gradient);
    sum_slots(bias_slots, bias_.gradient);
    return dx;
  }

  std::array<Parameter*, 2> parameters() { return {&weight_, &bias_}; }

 private:
  int kernel_;
  Parameter weight_, bias_;
};

class FullyConnected {
 public:
  FullyConnected(int in, int out, std::mt19937& random)
      : weight_({out, in, 1, 1}, std::sqrt(2.0f / static_cast<float>(in)), random),
        bias_({1, out, 1, 1}, 0.0f, random) {}

  Tensor forward(const Tensor& x) {
    SONDE_OPERATOR("FullyConnected");
    const int in = weight_.value.shape().c;
    const int out = weight_.value.shape().n;
    Tensor y({x.shape().n, out, 1, 1}, activation_tag());
    each_sample(x.shape().n, [&](int n, int) {
      for (int o = 0; o < out; ++o) {
        const float* w = weight_.value.data() + static_cast<std::size_t>(o) * in;
        float sum = bias_.value.data()[o];
        for (int i = 0; i < in; ++i) sum += w[i] * x.sample(n)[i];
        y.sample(n)[o] = sum;
      }
    });
    return y;
  }

  Tensor backward(const Tensor& x, const Tensor& dy) {
    SONDE_OPERATOR("_backward_FullyConnected");
    const int in = weight_.value.shape().c;
    const int out = weight_.value.shape().n;
    const std::size_t weights = weight_.value.shape().size();
    Tensor dx(x.shape(), activation_tag());
    std::vector<float> weight_slots(weights * kSlots, 0.0f);
    std::vector<float> bias_slots(static_cast<std::size_t>(out) * kSlots, 0.0f);
    each_sample(x.shape().n, [&](int n, int slot) {
      float* below = dx.sample(n);
      std::fill_n(below, in, 0.0f);
      for (int o = 0; o < out; ++o) {
        const float d = dy.sample(n)[o];
        const float* w = weight_.value.data() + static_cast<std::size_t>(o) * in;
        float* dw = weight_slots.data() + static_cast<std::size_t>(slot) * weights +
                    static_cast<std::size_t>(o) * in;
        for (int i = 0; i < in; ++i) {
          dw[i] += d * x.sample(n)[i];
          below[i] += d * w[i];
        }
        bias_slots[static_cast<std::size_t>(slot * out + o)] += d;
      }
    });
    sum_slots(weight_slots, weight_.gradient);
    sum_slots(bias_slots, bias_.gradient);
    return dx;
  }

  std::array<Parameter*, 2> parameters() { return {&weight_, &bias_}; }

 private:
  Parameter weight_, bias_;
};

Tensor activation(const Tensor& x) {
  SONDE_OPERATOR("Activation");
  Tensor y(x.shape(), activation_tag());
  each_sample(x.shape().n, [&](int n, int) {
    for (std::size_t i = 0; i < x.shape().sample(); ++i)
      y.sample(n)[i] = std::max(0.0f, x.sample(n)[i]);
  });
  return y;
}

Tensor activation_backward(const Tensor& y, const Tensor& dy) {
  SONDE_OPERATOR("_backward_Activation");
  Tensor dx(y.shape(), activation_tag());
  each_sample(y.shape().n, [&](int n, int) {
    for (std::size_t i = 0; i < y.shape().sample(); ++i)
      dx.sample(n)[i] = y.sample(n)[i] > 0 ? dy.sample(n)[i] : 0.0f;
  });
  return dx;
}

// The largest of each two by two.
Tensor pooling(const Tensor& x) {
  SONDE_OPERATOR("Pooling");
  const Shape in = x.shape();
  Tensor y({in.n, in.c, in.h / 2, in.w / 2}, activation_tag());
  const Shape out = y.shape();
  each_sample(in.n, [&](int n, int) {
    for (int c = 0; c < out.c; ++c) {
      for (int i = 0; i < out.h; ++i) {
        for (int j = 0; j < out.w; ++j) {
          const float* p = x.sample(n) + (c * in.h + 2 * i) * in.w + 2 * j;
          y.sample(n)[(c * out.h + i) * out.w + j] =
              std::max(std::max(p[0], p[1]), std::max(p[in.w], p[in.w + 1]));
        }
      }
    }
  });
  return y;
}

Tensor pooling_backward(const Tensor& x, const Tensor& y, const Tensor& dy) {
  SONDE_OPERATOR("_backward_Pooling");
  const Shape in = x.shape();
  const Shape out = y.shape();
  Tensor dx(in, activation_tag());
  each_sample(in.n, [&](int n, int) {
    float* below = dx.sample(n);
    std::fill_n(below, in.sample(), 0.0f);
    for (int c = 0; c < out.c; ++c) {
      for (int i = 0; i < out.h; ++i) {
        for (int j = 0; j < out.w; ++j) {
          const std::size_t at = static_cast<std::size_t>(c * in.h + 2 * i) * in.w + 2 * j;
          const std::size_t from = static_cast<std::size_t>(c * out.h + i) * out.w + j;
          const float* p = x.sample(n) + at;
          const float top = y.sample(n)[from];
          const std::size_t where = p[0] == top      ? 0
                                    : p[1] == top    ? 1
                                    : p[in.w] == top ? in.w
                                                     : in.w + 1;
          below[at + where] = dy.sample(n)[from];
        }
      }
    }
  });
  return dx;
}

// The mean loss, and its gradient in `d`.
float softmax_cross_entropy(const Tensor& scores, const std::vector<int>& labels, Tensor& d) {
  SONDE_OPERATOR("SoftmaxOutput");
  const int batch = scores.shape().n;
  const int classes = scores.shape().c;
  double loss = 0;
  for (int n = 0; n < batch; ++n) {
    const float* s = scores.sample(n);
    const float top = *std::max_element(s, s + classes);
    float sum = 0;
    for (int c = 0; c < classes; ++c) sum += std::exp(s[c] - top);
    for (int c = 0; c < classes; ++c) {
      const float p = std::exp(s[c] - top) / sum;
      d.sample(n)[c] = (p - (c == labels[static_cast<std::size_t>(n)] ? 1.0f : 0.0f)) /
                       static_cast<float>(batch);
    }
    loss -= s[labels[static_cast<std::size_t>(n)]] - top - std::log(sum);
  }
  return static_cast<float>(loss / batch);
}

void sgd_update(Parameter& p, float rate, float momentum) {
  SONDE_OPERATOR("sgd_mom_update");
  for (std::size_t i = 0; i < p.value.shape().size(); ++i) {
    p.velocity.data()[i] = momentum * p.velocity.data()[i] - rate * p.gradient.data()[i];
    p.value.data()[i] += p.velocity.data()[i];
  }
  p.gradient.fill(0);
}

// ---- Data: digits as seven segments, moved about and with noise ---------------------------------

constexpr int kSide = 20;

struct Batch {
  Tensor images;
  std::vector<int> labels;
};

class Loader {
 public:
  Loader(int batch, int count) : batch_(batch), thread_([this, count] { load(count); }) {}
  ~Loader() { thread_.join(); }

  Batch next() {
    SONDE_DATA_LOADER("enumerate(DataLoader)#Digits.__next__");
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [this] { return !ready_.empty(); });
    Batch batch = std::move(ready_.front());
    ready_.pop_front();
    changed_.notify_all();
    return batch;
  }

 private:
  static constexpr std::size_t kAhead = 2;

  void load(int count) {
    sonde_name_thread("loader");
    std::mt19937 random(7);
    for (int i = 0; i < count; ++i) {
      Batch batch = draw_batch(random);
      std::unique_lock<std::mutex> lock(mutex_);
      changed_.wait(lock, [this] { return ready_.size() < kAhead; });
      ready_.push_back(std::move(batch));
      changed_.notify_all();
    }
  }

  Batch draw_batch(std::mt19937& random) {
    SONDE_SCOPE("draw_batch");
    static sonde::Name tag("data");
    Batch batch{Tensor({batch_, 1, kSide, kSide}, tag),
                std::vector<int>(static_cast<std::size_t>(batch_))};
    for (int n = 0; n < batch_; ++n) {
      const int digit = static_cast<int>(random() % 10);
      batch.labels[static_cast<std::size_t>(n)] = digit;
      draw(digit, batch.images.sample(n), random);
    }
    return batch;
  }

  static void draw(int digit, float* image, std::mt19937& random) {
    //  bits: top, upper left, upper right, middle, lower left, lower right, bottom
    static constexpr unsigned kSegments[10] = {0x77, 0x24, 0x5D, 0x6D, 0x2E,
                                               0x6B, 0x7B, 0x25, 0x7F, 0x6F};
    std::normal_distribution<float> noise(0.0f, 0.2f);
    for (int i = 0; i < kSide * kSide; ++i) image[i] = noise(random);
    const int x0 = 3 + static_cast<int>(random() % 5);
    const int y0 = 2 + static_cast<int>(random() % 3);
    const auto bar = [&](int bit, int x, int y, int w, int h) {
      if (!(kSegments[digit] >> bit & 1u)) return;
      for (int i = y; i < y + h; ++i) {
        for (int j = x; j < x + w; ++j) image[(y0 + i) * kSide + x0 + j] += 1.0f;
      }
    };
    bar(0, 0, 0, 8, 2);
    bar(1, 0, 1, 2, 6);
    bar(2, 6, 1, 2, 6);
    bar(3, 0, 6, 8, 2);
    bar(4, 0, 7, 2, 6);
    bar(5, 6, 7, 2, 6);
    bar(6, 0, 12, 8, 2);
  }

  int batch_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Batch> ready_;
  std::thread thread_;
};

// ---- The network, behind an API like a framework's
// ------------------------------------------------

class LeNet {
 public:
  explicit LeNet(std::mt19937& random)
      : conv1_(1, 8, 5, random),
        conv2_(8, 16, 3, random),
        fc1_(16 * 3 * 3, 64, random),
        fc2_(64, 10, random) {}

  float train(const Batch& batch, float rate) {
    const float loss = forward_backward(batch);
    update(rate);
    return loss;
  }

 private:
  float forward_backward(const Batch& batch) {
    Tensor c1, a1, p1, c2, a2, p2, f1, a3, scores;
    {
      ++api_calls();
      SONDE_SCOPE_OF("NetForward", api().get(), SONDE_KIND_API);
      SONDE_FORWARD("forward");
      c1 = conv1_.forward(batch.images);
      a1 = activation(c1);
      p1 = pooling(a1);
      c2 = conv2_.forward(p1);
      a2 = activation(c2);
      p2 = pooling(a2);
      f1 = fc1_.forward(p2);
      a3 = activation(f1);
      scores = fc2_.forward(a3);
    }
    ++api_calls();
    SONDE_SCOPE_OF("NetBackward", api().get(), SONDE_KIND_API);
    SONDE_BACKWARD("backward");
    Tensor d(scores.shape(), activation_tag());
    const float loss = softmax_cross_entropy(scores, batch.labels, d);
    d = fc2_.backward(a3, d);
    d = activation_backward(a3, d);
    d = fc1_.backward(p2, d);
    d = pooling_backward(a2, p2, d);
    d = activation_backward(a2, d);
    d = conv2_.backward(p1, d);
    d = pooling_backward(a1, p1, d);
    d = activation_backward(a1, d);
    d = conv1_.backward(batch.images, d);
    return loss;
  }

  void update(float rate) {
    ++api_calls();
    SONDE_SCOPE_OF("NetUpdate", api().get(), SONDE_KIND_API);
    SONDE_OPTIMIZER("Optimizer.step#SGD.step");
    const auto each = [&](auto parameters) {
      for (Parameter* parameter : parameters) sgd_update(*parameter, rate, 0.9f);
    };
    each(conv1_.parameters());
    each(conv2_.parameters());
    each(fc1_.parameters());
    each(fc2_.parameters());
  }

  Convolution conv1_, conv2_;
  FullyConnected fc1_, fc2_;
};

}  // namespace

int main(int argc, char** argv) {
  const int steps = argc > 1 ? std::max(2, std::atoi(argv[1])) : 60;
  const int batch = argc > 2 ? std::max(1, std::atoi(argv[2])) : 64;
  sonde_name_process("lenet");
  sonde_name_thread("main");
  std::mt19937 random(1);
  LeNet net(random);
  Loader loader(batch, steps);
  float first = 0;
  float last = 0;
  for (int step = 0; step < steps; ++step) {
    sonde_step();
    const Batch data = loader.next();
    const float loss = net.train(data, 0.05f);
    if (step == 0) first = loss;
    last = step == 0 ? loss : 0.9f * last + 0.1f * loss;
    static sonde::Counter loss_counter("loss in thousandths");
    loss_counter.set(static_cast<std::int64_t>(loss * 1000));
    if (step % 10 == 0 || step == steps - 1)
      std::printf("step %3d  loss %.4f\n", step, static_cast<double>(loss));
  }
  sonde_last_step();
  std::printf("loss fell from %.4f to %.4f\n", static_cast<double>(first),
              static_cast<double>(last));
  return last < first * 0.7f ? 0 : 1;
}
