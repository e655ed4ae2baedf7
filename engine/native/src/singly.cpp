#include "singly.h"

#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <vector>

#include "cpu_library.h"
#include "ggml-backend.h"
#include "row_kernel.h"

namespace gannet {
namespace {

constexpr std::int64_t kTrialColumns = 768;
constexpr std::int64_t kTrialRows = 40;
constexpr std::size_t kMostSingly = 16;

using Backend = std::unique_ptr<ggml_backend, void (*)(ggml_backend_t)>;

struct Trial {
    std::vector<std::byte> weights;
    std::vector<float> inputs;  // kMostSingly of them
};

Trial make_trial(ggml_type type) {
    std::mt19937 random(3);
    std::normal_distribution<float> normal(0.0F, 1.0F);
    Trial trial;
    std::vector<float> values(kTrialColumns * kTrialRows);
    for (float& v : values) v = normal(random);
    trial.weights.resize(ggml_row_size(type, kTrialColumns) * kTrialRows);
    ggml_quantize_chunk(type, values.data(), trial.weights.data(), 0, kTrialRows, kTrialColumns, nullptr);
    trial.inputs.resize(kTrialColumns * kMostSingly);
    for (float& v : trial.inputs) v = normal(random);
    return trial;
}

// n rows through MUL_MAT_ID over one expert; empty when it fails.
std::vector<float> with_ggml(ggml_type type, Trial& trial, std::size_t n, ggml_backend_t cpu) {
    ggml_context* c = ggml_init({8 * ggml_tensor_overhead() + ggml_graph_overhead_custom(8, false), nullptr, true});
    const auto rows = static_cast<std::int64_t>(n);
    ggml_tensor* w = ggml_new_tensor_3d(c, type, kTrialColumns, kTrialRows, 1);
    w->data = trial.weights.data();
    ggml_tensor* x = ggml_new_tensor_3d(c, GGML_TYPE_F32, kTrialColumns, 1, rows);
    x->data = trial.inputs.data();
    std::vector<std::int32_t> zeros(n, 0);
    ggml_tensor* ids = ggml_new_tensor_2d(c, GGML_TYPE_I32, 1, rows);
    ids->data = zeros.data();
    std::vector<float> out(n * kTrialRows);
    ggml_tensor* product = ggml_mul_mat_id(c, w, x, ids);
    product->data = out.data();
    ggml_cgraph* graph = ggml_new_graph_custom(c, 8, false);
    ggml_build_forward_expand(graph, product);
    const bool fine = ggml_backend_graph_compute(cpu, graph) == GGML_STATUS_SUCCESS;
    ggml_free(c);
    return fine ? out : std::vector<float>{};
}

std::vector<float> with_ours(const RowKernel& kernel, const Trial& trial, std::size_t n) {
    std::vector<ReadyVector> ready(n);
    std::vector<const std::byte*> vectors;
    std::vector<float> out(n * kTrialRows);
    std::vector<float*> results;
    for (std::size_t i = 0; i < n; i++) {
        ready[i].set(kernel, trial.inputs.data() + i * kTrialColumns, kTrialColumns);
        vectors.push_back(ready[i].data());
        results.push_back(out.data() + i * kTrialRows);
    }
    const Rows rows{trial.weights.data(), trial.weights.size() / kTrialRows, kTrialColumns};
    kernel.fast->multiply_many(rows, 0, kTrialRows, vectors.data(), n, results.data());
    return out;
}

std::size_t try_rows(ggml_type type) {
    RowKernel kernel;
    if (!RowKernel::find(type, kernel) || kernel.fast == nullptr || kernel.fast->multiply_many == nullptr) return 0;
    Trial trial = make_trial(type);
    const Backend cpu(ggml_backend_dev_init(cpu_library().device, nullptr), ggml_backend_free);
    if (cpu == nullptr) return 0;
    std::size_t n = 0;
    while (n < kMostSingly) {
        const std::vector<float> stock = with_ggml(type, trial, n + 1, cpu.get());
        const std::vector<float> ours = with_ours(kernel, trial, n + 1);
        if (stock.empty() || std::memcmp(stock.data(), ours.data(), ours.size() * sizeof(float)) != 0) break;
        n++;
    }
    return n;
}

}  // namespace

std::size_t rows_multiplied_singly(ggml_type weights) {
    static std::mutex mutex;
    static std::map<ggml_type, std::size_t> tried;
    const std::lock_guard<std::mutex> lock(mutex);
    const auto it = tried.find(weights);
    return it != tried.end() ? it->second : tried[weights] = try_rows(weights);
}

}  // namespace gannet
