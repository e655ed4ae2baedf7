#include "row_kernel.h"

#include "cpu_library.h"

namespace gannet {
namespace {

constexpr std::size_t kLine = 64;

inline void fetch(const std::byte* row, std::size_t bytes) {
#if defined(__GNUC__)
    for (std::size_t b = 0; b < bytes; b += kLine) __builtin_prefetch(row + b, 0, 3);
#else
    (void)row;
    (void)bytes;
#endif
}

}  // namespace

bool RowKernel::find(ggml_type weights, RowKernel& out) {
    const ggml_type_traits_cpu* traits = cpu_library().type_traits(weights);
    if (traits == nullptr || traits->vec_dot == nullptr) return false;
    out.dot = traits->vec_dot;
    out.vector_type = traits->vec_dot_type;
    out.quantize = nullptr;
    if (out.vector_type != GGML_TYPE_F32) {
        out.quantize = cpu_library().type_traits(out.vector_type)->from_float;
        return out.quantize != nullptr;
    }
    return true;
}

void multiply_rows(const RowKernel& kernel, const Rows& rows, std::int64_t begin, std::int64_t end, const void* vector,
                   float* out) {
    const auto n = static_cast<int>(rows.columns);
    const std::size_t bytes = rows.stride;
    const std::byte* row = rows.data + static_cast<std::size_t>(begin) * bytes;
    for (std::int64_t r = begin; r < end; r++, row += bytes) {
        if (r + 1 < end) fetch(row + bytes, bytes);
        kernel.dot(n, out + r, 0, row, 0, vector, 0, 1);
    }
}

const void* as_vector(const RowKernel& kernel, const float* x, std::int64_t columns, std::vector<std::byte>& scratch) {
    if (kernel.quantize == nullptr) return x;
    const std::size_t bytes = kernel.vector_bytes(columns);
    if (scratch.size() < bytes) scratch.resize(bytes);
    kernel.quantize(x, scratch.data(), columns);
    return scratch.data();
}

}  // namespace gannet
