#include "row_kernel.h"

#include <cstring>
#include <map>
#include <mutex>
#include <random>

#include "cpu_library.h"
#include "kernels/fast_kernels.h"
#include "kernels/read_ahead.h"

namespace gannet {
namespace {

constexpr std::int64_t kTrialRows = 37;
constexpr std::size_t kTrialVectors = 5;

void multiply_with_ggml(const RowKernel& kernel, const Rows& rows, std::int64_t begin, std::int64_t end,
                        const std::byte* vector, float* out) {
    const auto n = static_cast<int>(rows.columns);
    const std::byte* row = rows.data + static_cast<std::size_t>(begin) * rows.stride;
    begin_reading(row);
    for (std::int64_t r = begin; r < end; r++, row += rows.stride) {
        read_ahead(row, rows.stride);
        kernel.dot(n, out + r, 0, row, 0, vector, 0, 1);
    }
}

// Weights as a quantizer makes them: what a kernel has to agree on with ggml.
std::vector<std::byte> trial_rows(ggml_type type, std::int64_t columns, std::size_t row_bytes) {
    std::mt19937 random(7);
    std::normal_distribution<float> normal(0.0F, 1.0F);
    std::vector<float> values(static_cast<std::size_t>(columns * kTrialRows));
    for (float& v : values) v = normal(random);
    std::vector<std::byte> rows(row_bytes * kTrialRows);
    ggml_quantize_chunk(type, values.data(), rows.data(), 0, kTrialRows, columns, nullptr);
    return rows;
}

bool agrees(const RowKernel& kernel, const FastKernel& fast, std::int64_t columns) {
    const std::size_t row_bytes = ggml_row_size(fast.type, columns);
    const std::vector<std::byte> data = trial_rows(fast.type, columns, row_bytes);
    const Rows rows{data.data(), row_bytes, columns};
    std::mt19937 random(8);
    std::normal_distribution<float> normal(0.0F, 1.0F);
    std::vector<float> x(static_cast<std::size_t>(columns));
    for (float& v : x) v = normal(random);
    RowKernel with_fast = kernel;
    with_fast.fast = &fast;
    ReadyVector stock;
    ReadyVector ours;
    stock.set(kernel, x.data(), columns);
    ours.set(with_fast, x.data(), columns);
    std::vector<float> a(kTrialRows);
    std::vector<float> b(kTrialRows);
    for (std::int64_t r = 0; r < kTrialRows; r++) {
        kernel.dot(static_cast<int>(columns), &a[static_cast<std::size_t>(r)], 0,
                   data.data() + static_cast<std::size_t>(r) * row_bytes, 0, stock.data(), 0, 1);
    }
    fast.multiply(rows, 0, kTrialRows, ours.data(), b.data());
    bool same = std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
    for (std::size_t n = 1; fast.multiply_many != nullptr && n <= kTrialVectors; n++) {
        std::vector<std::vector<float>> many(n, std::vector<float>(kTrialRows));
        std::vector<float*> to;
        for (std::vector<float>& v : many) to.push_back(v.data());
        const std::vector<const std::byte*> from(n, ours.data());
        fast.multiply_many(rows, 0, kTrialRows, from.data(), n, to.data());
        for (const std::vector<float>& v : many)
            same = same && std::memcmp(v.data(), a.data(), v.size() * sizeof(float)) == 0;
    }
    return same;
}

// The kernel of ours for the type, if this processor has one and it agrees with this ggml.
const FastKernel* fast_for(const RowKernel& kernel, ggml_type type) {
    static std::mutex mutex;
    static std::map<ggml_type, const FastKernel*> tried;
    const std::lock_guard<std::mutex> lock(mutex);
    const auto it = tried.find(type);
    if (it != tried.end()) return it->second;
    const FastKernel* fast = find_fast_kernel(type);
    for (const std::int64_t columns : {std::int64_t{256}, std::int64_t{2816}, 3 * ggml_blck_size(type)}) {
        if (fast != nullptr && !agrees(kernel, *fast, columns)) fast = nullptr;
    }
    tried[type] = fast;
    return fast;
}

}  // namespace

bool RowKernel::find(ggml_type weights, RowKernel& out) {
    const ggml_type_traits_cpu* traits = cpu_library().type_traits(weights);
    if (traits == nullptr || traits->vec_dot == nullptr) return false;
    out = {traits->vec_dot, nullptr, traits->vec_dot_type, nullptr};
    if (out.vector_type != GGML_TYPE_F32) {
        out.quantize = cpu_library().type_traits(out.vector_type)->from_float;
        if (out.quantize == nullptr) return false;
    }
    out.fast = fast_for(out, weights);
    return true;
}

void ReadyVector::set(const RowKernel& kernel, const float* x, std::int64_t columns) {
    data_ = reinterpret_cast<const std::byte*>(x);
    if (kernel.quantize != nullptr) {
        quantized_.resize(ggml_row_size(kernel.vector_type, columns));
        kernel.quantize(x, quantized_.data(), columns);
        data_ = quantized_.data();
    }
    if (kernel.fast == nullptr) return;
    packed_.resize(kernel.fast->packed_bytes(columns) + kLine);
    const auto misaligned = reinterpret_cast<std::uintptr_t>(packed_.data()) % kLine;
    std::byte* to = packed_.data() + (kLine - misaligned) % kLine;
    kernel.fast->pack(data_, columns, to);
    data_ = to;
}

void multiply_rows(const RowKernel& kernel, const Rows& rows, std::int64_t begin, std::int64_t end,
                   const ReadyVector& vector, float* out) {
    if (kernel.fast != nullptr) {
        kernel.fast->multiply(rows, begin, end, vector.data(), out);
    } else {
        multiply_with_ggml(kernel, rows, begin, end, vector.data(), out);
    }
}

}  // namespace gannet
