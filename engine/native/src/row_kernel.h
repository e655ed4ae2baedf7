// Rows of a weight matrix times one vector.
//
// Two ways, the same bits: ggml's own dot product with the rows ahead fetched into the cache (memory
// latency, not arithmetic, limits ggml's decode; docs/benchmarks.md), or a kernel of ours for the types
// and processors it was written for. Ours adds integers in another order and floats in the same one, and
// is used only if it gives this ggml's results bit for bit in a trial at the first use.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ggml-cpu.h"
#include "ggml.h"

namespace gannet {

struct Rows {
    const std::byte* data = nullptr;
    std::size_t stride = 0;  // bytes from row to row
    std::int64_t columns = 0;
};

// A kernel of ours for one weight type.
struct FastKernel {
    ggml_type type;
    std::size_t (*packed_bytes)(std::int64_t columns);
    // ggml's quantized vector in the layout multiply() reads.
    void (*pack)(const void* quantized, std::int64_t columns, std::byte* packed);
    // out[r] = rows[r] . vector for r in [begin, end).
    void (*multiply)(const Rows& rows, std::int64_t begin, std::int64_t end, const std::byte* packed, float* out);
    // out[v][r] = rows[r] . vectors[v], the same bits; nullptr: one vector at a time.
    void (*multiply_many)(const Rows& rows, std::int64_t begin, std::int64_t end, const std::byte* const* packed,
                          std::size_t n, float* const* out) = nullptr;
};

// What a matrix of one type needs to be multiplied.
struct RowKernel {
    ggml_vec_dot_t dot = nullptr;
    ggml_from_float_t quantize = nullptr;  // nullptr: vectors are used as they are
    ggml_type vector_type = GGML_TYPE_F32;
    const FastKernel* fast = nullptr;

    // False when this ggml has no dot product for the type.
    static bool find(ggml_type weights, RowKernel& out);
};

// A vector made ready for a kernel; keeps its memory from use to use.
class ReadyVector {
  public:
    // x has `columns` floats and must outlive the use where no conversion is needed.
    void set(const RowKernel& kernel, const float* x, std::int64_t columns);
    const std::byte* data() const { return data_; }

  private:
    const std::byte* data_ = nullptr;
    std::vector<std::byte> quantized_;
    std::vector<std::byte> packed_;
};

// out[r] = rows[r] . vector for r in [begin, end).
void multiply_rows(const RowKernel& kernel, const Rows& rows, std::int64_t begin, std::int64_t end,
                   const ReadyVector& vector, float* out);

}  // namespace gannet
