// Small ggml graphs for tests: a context with memory of its own, and the CPU backend to run them.
#pragma once

#include <algorithm>
#include <memory>
#include <random>
#include <vector>

#include "cpu_library.h"
#include "ggml-backend.h"
#include "ggml.h"

namespace gannet {

struct FreeContext {
    void operator()(ggml_context* c) const { ggml_free(c); }
};
using Context = std::unique_ptr<ggml_context, FreeContext>;

inline Context make_context(std::size_t bytes = 32 << 20, bool no_data = false) {
    return Context(ggml_init({bytes, nullptr, no_data}));
}

struct FreeBackend {
    void operator()(ggml_backend_t b) const { ggml_backend_free(b); }
};
using Cpu = std::unique_ptr<ggml_backend, FreeBackend>;

// ThreadSanitizer cannot see how ggml's own team synchronises (its OpenMP is not instrumented): one thread there.
inline Cpu make_cpu([[maybe_unused]] int threads = 1) {
#if defined(__SANITIZE_THREAD__)
    threads = 1;
#endif
    Cpu cpu(ggml_backend_dev_init(cpu_library().device, nullptr));
    cpu_library().set_n_threads(cpu.get(), threads);
    return cpu;
}

inline std::vector<float> random_floats(std::size_t n, unsigned seed, float size = 1.0F) {
    std::mt19937 random(seed);
    std::normal_distribution<float> normal(0.0F, size);
    std::vector<float> out(n);
    for (float& v : out) v = normal(random);
    return out;
}

inline void fill(ggml_tensor* t, const std::vector<float>& values) {
    std::copy(values.begin(), values.end(), static_cast<float*>(t->data));
}

inline ggml_tensor* floats(ggml_context* c, const std::vector<float>& values, std::int64_t ne0, std::int64_t ne1 = 1) {
    ggml_tensor* t = ggml_new_tensor_2d(c, GGML_TYPE_F32, ne0, ne1);
    fill(t, values);
    return t;
}

}  // namespace gannet
