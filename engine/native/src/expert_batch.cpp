#include "expert_batch.h"

#include <algorithm>

namespace gannet {
namespace {

constexpr std::size_t kAlign = 64;
constexpr std::size_t kNodesPerExpert = 10;  // tensors, views and leaves included

std::size_t padded(std::size_t n) {
    return (n + kAlign - 1) / kAlign * kAlign;
}

}  // namespace

std::uint32_t selected_expert(const ggml_tensor* ids, std::int64_t k, std::int64_t token) {
    const auto* base = static_cast<const std::byte*>(ids->data);
    const auto at = static_cast<std::size_t>(k) * ids->nb[0] + static_cast<std::size_t>(token) * ids->nb[1];
    return static_cast<std::uint32_t>(*reinterpret_cast<const std::int32_t*>(base + at));
}

// Groups the rows by expert, in the order ggml groups them: by token, then by rank.
void ExpertBatch::begin(ggml_tensor* node) {
    node_ = node;
    entries_.clear();
    rows_ = 0;
    const ggml_tensor* ids = node->src[2];
    const std::int64_t n_experts = node->src[0]->ne[2];
    const std::int64_t inputs = node->src[1]->ne[1];  // input rows a token: 1, or one a rank
    first_.assign(static_cast<std::size_t>(n_experts) + 1, 0);
    for (std::int64_t t = 0; t < ids->ne[1]; t++) {
        for (std::int64_t k = 0; k < ids->ne[0]; k++) first_[selected_expert(ids, k, t) + 1]++;
    }
    for (std::size_t e = 1; e < first_.size(); e++) first_[e] += first_[e - 1];
    std::vector<std::uint32_t> next(first_.begin(), first_.end() - 1);
    source_.resize(first_.back());
    target_.resize(first_.back());
    for (std::int64_t t = 0; t < ids->ne[1]; t++) {
        for (std::int64_t k = 0; k < ids->ne[0]; k++) {
            const std::uint32_t at = next[selected_expert(ids, k, t)]++;
            source_[at] = static_cast<std::int32_t>(t * inputs + k % inputs);
            target_[at] = t * ids->ne[0] + k;
        }
    }
}

std::uint32_t ExpertBatch::rows_of(std::uint32_t expert) const {
    return first_[expert + 1] - first_[expert];
}

void ExpertBatch::add(std::uint32_t expert, const std::byte* weights) {
    entries_.push_back({expert, weights});
    rows_ += rows_of(expert);
}

std::byte* ExpertBatch::take(std::size_t bytes) {
    std::byte* p = scratch_.data() + used_;
    used_ += padded(bytes);
    return p;
}

std::size_t ExpertBatch::scratch_bytes() const {
    const auto columns = static_cast<std::size_t>(node_->src[1]->ne[0] + node_->ne[0]);
    return rows_ * (columns + 1) * sizeof(float) + entries_.size() * 4 * kAlign;
}

void ExpertBatch::append(ggml_context* c, ggml_cgraph* graph, const Entry& entry) {
    const ggml_tensor* w = node_->src[0];
    const ggml_tensor* x = node_->src[1];
    const std::int64_t n = rows_of(entry.expert);
    const std::uint32_t first = first_[entry.expert];

    ggml_tensor* input = ggml_new_tensor_2d(c, x->type, x->ne[0], x->ne[1] * x->ne[2]);
    input->nb[1] = x->ne[1] == 1 ? x->nb[2] : x->nb[1];
    input->data = x->data;
    ggml_tensor* which = ggml_new_tensor_1d(c, GGML_TYPE_I32, n);
    which->data = source_.data() + first;
    ggml_tensor* gathered = ggml_get_rows(c, input, which);
    gathered->data = take(ggml_nbytes(gathered));

    ggml_tensor* weights = ggml_new_tensor_3d(c, w->type, w->ne[0], w->ne[1], 1);
    weights->data = const_cast<std::byte*>(entry.weights);
    ggml_tensor* only = ggml_new_tensor_2d(c, GGML_TYPE_I32, 1, n);
    only->data = take(ggml_nbytes(only));
    std::fill_n(static_cast<std::int32_t*>(only->data), n, 0);
    ggml_tensor* column = ggml_reshape_3d(c, gathered, x->ne[0], 1, n);
    column->data = gathered->data;
    ggml_tensor* product = ggml_mul_mat_id(c, weights, column, only);
    std::copy_n(node_->op_params, sizeof node_->op_params / sizeof *node_->op_params, product->op_params);
    product->data = take(ggml_nbytes(product));

    ggml_tensor* output = ggml_new_tensor_2d(c, node_->type, node_->ne[0], node_->ne[1] * node_->ne[2]);
    output->nb[1] = node_->nb[1];
    output->data = node_->data;
    ggml_tensor* rows = ggml_reshape_2d(c, product, node_->ne[0], n);
    rows->data = product->data;
    ggml_tensor* where = ggml_new_tensor_1d(c, GGML_TYPE_I64, n);
    where->data = target_.data() + first;
    ggml_tensor* scattered = ggml_set_rows(c, output, rows, where);
    scattered->data = output->data;
    ggml_build_forward_expand(graph, scattered);
}

ggml_status ExpertBatch::run() {
    if (entries_.empty()) return GGML_STATUS_SUCCESS;
    const std::size_t nodes = entries_.size() * kNodesPerExpert;
    const std::size_t need = (ggml_tensor_overhead() + 64) * nodes + ggml_graph_overhead_custom(nodes, false) + 4096;
    if (context_.size() < need) context_.resize(need);
    if (scratch_.size() < scratch_bytes() + kAlign) scratch_.resize(scratch_bytes() + kAlign);
    used_ =
        padded(reinterpret_cast<std::uintptr_t>(scratch_.data())) - reinterpret_cast<std::uintptr_t>(scratch_.data());
    ggml_context* context = ggml_init({context_.size(), context_.data(), true});
    ggml_cgraph* graph = ggml_new_graph_custom(context, nodes, false);
    for (const Entry& entry : entries_) append(context, graph, entry);
    const ggml_status status = ggml_backend_graph_compute(cpu_, graph);
    ggml_free(context);
    entries_.clear();
    rows_ = 0;
    return status;
}

}  // namespace gannet
