#include "decode_plan.h"

namespace gannet {
namespace {

bool is_view(const ggml_tensor* t) {
    return t->op == GGML_OP_VIEW || t->op == GGML_OP_RESHAPE || t->op == GGML_OP_PERMUTE ||
           t->op == GGML_OP_TRANSPOSE || t->op == GGML_OP_NONE;
}

bool one_token(const ggml_tensor* product) {
    return product->src[2]->ne[1] == 1;
}

bool same_input(const ggml_tensor* a, const ggml_tensor* b) {
    return a->src[1] == b->src[1] && a->src[2] == b->src[2];
}

}  // namespace

DecodePlan::DecodePlan(StreamedModel& model, ggml_backend_t cpu)
    : model_(model), cpu_(cpu), lookahead_(model.store(), model.lookahead(), model.settings().prefetch_bar) {
    layer_.model = &model;
    layer_.lookahead = &lookahead_;
}

DecodePlan::~DecodePlan() {
    layer_.release();
    if (context_ != nullptr) ggml_free(context_);
}

bool DecodePlan::takes(ggml_cgraph* graph) const {
    bool any = false;
    for (int i = 0; i < ggml_graph_n_nodes(graph); i++) {
        const ggml_tensor* node = ggml_graph_node(graph, i);
        if (node->op != GGML_OP_MUL_MAT_ID || !model_.holds_experts(node->src[0])) continue;
        RowKernel kernel;
        const std::uint32_t layer = model_.part_of(node->src[0]).layer;
        if (!one_token(node) || !RowKernel::find(node->src[0]->type, kernel)) return false;
        if (model_.store().capacity(layer) < node->src[2]->ne[0]) return false;
        any = true;
    }
    return any;
}

ggml_status DecodePlan::run(ggml_cgraph* graph) {
    build(graph);
    layer_.failed.store(false);
    const ggml_status status = ggml_backend_graph_compute(cpu_, plan_);
    layer_.release();
    return layer_.failed.load() ? GGML_STATUS_FAILED : status;
}

void DecodePlan::build(ggml_cgraph* graph) {
    lookahead_.set_distance(model_.lookahead());
    selects_.clear();
    predicts_.clear();
    experts_.clear();
    dense_.clear();
    const int n = ggml_graph_n_nodes(graph);
    if (context_ != nullptr) ggml_free(context_);
    capacity_ = 2 * n + 64;  // ours come on top
    const auto size = static_cast<std::size_t>(capacity_);
    context_ = ggml_init({ggml_graph_overhead_custom(size, false) + size * ggml_tensor_overhead(), nullptr, true});
    plan_ = ggml_new_graph_custom(context_, size, false);
    for (int i = 0; i < n; i++) {
        ggml_tensor* node = ggml_graph_node(graph, i);
        if (node->op == GGML_OP_MUL_MAT_ID && model_.holds_experts(node->src[0])) {
            i = append_experts(graph, i);
        } else if (node->op != GGML_OP_MUL_MAT || !append_dense(node)) {
            ggml_graph_add_node(plan_, node);
        }
    }
}

void DecodePlan::append(ggml_custom_op_t run, int n_tasks, void* op) {
    static float nowhere;  // results go where the op's own node points
    ggml_tensor* t = ggml_custom_4d(context_, GGML_TYPE_F32, 1, 1, 1, 1, nullptr, 0, run, n_tasks, op);
    t->data = &nowhere;
    t->flags |= GGML_TENSOR_FLAG_COMPUTE;
    ggml_graph_add_node(plan_, t);
}

// The product at node i, and with it the next one where only views lie between and both take the same
// input. Returns the last node consumed.
int DecodePlan::append_experts(ggml_cgraph* graph, int i) {
    ggml_tensor* node = ggml_graph_node(graph, i);
    const PartRef ref = model_.part_of(node->src[0]);
    const bool first_of_layer = selects_.empty() || selects_.back().layer != ref.layer;
    if (first_of_layer) {
        selects_.push_back({&layer_, ref.layer, node->src[2]});
        append(SelectOp::compute, 1, &selects_.back());
        if (lookahead_.on()) append_predict(ref.layer, node->src[2]);
    }
    ExpertOp& op = experts_.emplace_back();
    op.run = &layer_;
    op.products.push_back({node, ref.part, {}});
    int last = i;
    for (int j = i + 1; j < ggml_graph_n_nodes(graph); j++) {
        ggml_tensor* other = ggml_graph_node(graph, j);
        if (is_view(other)) continue;
        const bool twin = other->op == GGML_OP_MUL_MAT_ID && model_.holds_experts(other->src[0]) &&
                          same_input(node, other) && other->src[0]->type == node->src[0]->type &&
                          other->src[0]->ne[1] == node->src[0]->ne[1];
        if (twin) {
            op.products.push_back({other, model_.part_of(other->src[0]).part, {}});
            last = j;
        }
        break;
    }
    for (ExpertOp::Product& product : op.products) RowKernel::find(product.node->src[0]->type, product.kernel);
    append(ExpertOp::compute, GGML_N_TASKS_MAX, &op);
    return last;
}

// Scoring of the next layers, where the graph upstream of the ids is understood.
void DecodePlan::append_predict(std::uint32_t layer, const ggml_tensor* ids) {
    RouterSpec router;
    if (!find_router(ids, model_.store().index().layers()[layer].n_experts, router)) return;
    if (!lookahead_.knows(layer)) lookahead_.learn(layer, router, static_cast<std::uint32_t>(ids->ne[0]));
    if (!lookahead_.knows(layer) || layer + 1 >= model_.store().index().n_layers()) return;
    predicts_.push_back({&layer_, layer, router.input});
    append(PredictOp::compute, GGML_N_TASKS_MAX, &predicts_.back());
}

// A product of one row with weights of ours; false when ggml is to do it.
bool DecodePlan::append_dense(ggml_tensor* node) {
    const ggml_tensor* w = node->src[0];
    const ggml_tensor* x = node->src[1];
    const bool one_row = ggml_nelements(x) == x->ne[0] && w->ne[2] == 1 && w->ne[3] == 1;
    if (!one_row || !model_.holds_resident(w) || x->type != GGML_TYPE_F32 || node->type != GGML_TYPE_F32) return false;
    if (w->view_src != nullptr || node->op_params[1] != 0) return false;  // a hint asks for another algorithm
    RowKernel kernel;
    if (!RowKernel::find(w->type, kernel)) return false;
    DenseOp& op = dense_.emplace_back();
    op.node = node;
    op.kernel = kernel;
    append(DenseOp::compute, GGML_N_TASKS_MAX, &op);
    return true;
}

}  // namespace gannet
