// Rows of a weight matrix times one vector, with ggml's own quantization and dot products.
//
// Results are those of stock ggml bit for bit, because the functions are the same; what differs is
// that the next row is fetched into the cache while one row is multiplied. Memory latency, not
// arithmetic, limits ggml's decode (docs/benchmarks.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ggml-cpu.h"
#include "ggml.h"

namespace gannet {

// What a matrix of one type needs to be multiplied.
struct RowKernel {
    ggml_vec_dot_t dot = nullptr;
    ggml_from_float_t quantize = nullptr;  // nullptr: vectors are used as they are
    ggml_type vector_type = GGML_TYPE_F32;

    // False when this ggml has no dot product for the type.
    static bool find(ggml_type weights, RowKernel& out);
    std::size_t vector_bytes(std::int64_t columns) const { return ggml_row_size(vector_type, columns); }
};

struct Rows {
    const std::byte* data = nullptr;
    std::size_t stride = 0;  // bytes from row to row
    std::int64_t columns = 0;
};

// out[r] = rows[r] . vector for r in [begin, end); `vector` is already of the kernel's vector type.
void multiply_rows(const RowKernel& kernel, const Rows& rows, std::int64_t begin, std::int64_t end, const void* vector,
                   float* out);

// x in the kernel's vector type: x itself where no conversion is needed, else converted into `scratch`.
const void* as_vector(const RowKernel& kernel, const float* x, std::int64_t columns, std::vector<std::byte>& scratch);

}  // namespace gannet
