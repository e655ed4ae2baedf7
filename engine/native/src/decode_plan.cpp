#include "decode_plan.h"

#include <algorithm>
#include <exception>

#include "cpu_library.h"

namespace gannet {
namespace {

constexpr std::int64_t kSmall = 16 << 10;  // elements: less work than waking a second thread is worth
constexpr int kJoinWindow = 24;            // nodes searched for products with the same input
constexpr int kSharedWindow = 192;         // nodes of a layer behind its first product with experts

bool is_view(const ggml_tensor* t) {
    return t->op == GGML_OP_VIEW || t->op == GGML_OP_RESHAPE || t->op == GGML_OP_PERMUTE ||
           t->op == GGML_OP_TRANSPOSE || t->op == GGML_OP_NONE;
}

// Elements a node computes, whatever the size of what it writes into.
std::int64_t work_of(const ggml_tensor* t) {
    std::int64_t n = t->op == GGML_OP_SET_ROWS || t->op == GGML_OP_CPY ? ggml_nelements(t->src[0]) : ggml_nelements(t);
    if (t->op == GGML_OP_SUM_ROWS || t->op == GGML_OP_ARGSORT) n = std::max(n, ggml_nelements(t->src[0]));
    return n;
}

bool is_small(const ggml_tensor* t) {
    switch (t->op) {
        case GGML_OP_RMS_NORM:
        case GGML_OP_NORM:
        case GGML_OP_MUL:
        case GGML_OP_ADD:
        case GGML_OP_DIV:
        case GGML_OP_ADD_ID:
        case GGML_OP_SCALE:
        case GGML_OP_CLAMP:
        case GGML_OP_ROPE:
        case GGML_OP_SET_ROWS:
        case GGML_OP_CPY:
        case GGML_OP_CONT:
        case GGML_OP_SOFT_MAX:
        case GGML_OP_UNARY:
        case GGML_OP_SQRT:
        case GGML_OP_GLU:
        case GGML_OP_ARGSORT:
        case GGML_OP_GET_ROWS:
        case GGML_OP_SUM_ROWS:
            return work_of(t) <= kSmall;
        default:
            return false;
    }
}

bool overlap(const ggml_tensor* a, const ggml_tensor* b) {
    const auto* pa = static_cast<const std::byte*>(a->data);
    const auto* pb = static_cast<const std::byte*>(b->data);
    return pa < pb + ggml_nbytes(b) && pb < pa + ggml_nbytes(a);
}

// Whether node t reads or writes what `moved` writes.
bool touches(const ggml_tensor* t, const ggml_tensor* moved) {
    if (overlap(t, moved)) return true;
    return std::any_of(std::begin(t->src), std::end(t->src),
                       [&](const ggml_tensor* s) { return s != nullptr && s->data != nullptr && overlap(s, moved); });
}

bool one_token(const ggml_tensor* product) {
    return product->src[2]->ne[1] == 1;
}

bool same_input(const ggml_tensor* a, const ggml_tensor* b) {
    return a->src[1] == b->src[1] && a->src[2] == b->src[2];
}

// An exception must not leave one of ggml's threads: it ends the answer instead.
template <typename Op>
void guarded(ggml_tensor* t, int ith, int nth, void* self) {
    try {
        Op::compute(t, ith, nth, self);
    } catch (const std::exception& e) {
        static_cast<Op*>(self)->run->fail(e.what());
    }
}

}  // namespace

DecodePlan::DecodePlan(StreamedModel& model, ggml_backend_t cpu)
    : model_(model),
      cpu_(cpu),
      serial_(ggml_backend_dev_init(cpu_library().device, nullptr)),
      lookahead_(model.store(), model.lookahead(), model.prefetch_bar()) {
    cpu_library().set_n_threads(serial_, 1);
    layer_.model = &model;
    layer_.lookahead = &lookahead_;
    shared_names_.resize(model.store().index().n_layers());
    lookahead_.correct_with(&model.corrections());
}

DecodePlan::~DecodePlan() {
    layer_.release();
    if (context_ != nullptr) ggml_free(context_);
    ggml_backend_free(serial_);
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
    layer_.scored = nullptr;
    const ggml_status status = ggml_backend_graph_compute(cpu_, plan_);
    layer_.release();
    return layer_.failed.load() ? GGML_STATUS_FAILED : status;
}

void DecodePlan::build(ggml_cgraph* graph) {
    lookahead_.set_distance(model_.lookahead());
    lookahead_.set_width(model_.width());
    lookahead_.set_bar(model_.prefetch_bar());
    selects_.clear();
    predicts_.clear();
    experts_.clear();
    ffns_.clear();
    dense_.clear();
    serials_.clear();
    small_.clear();
    done_.clear();
    const int n = ggml_graph_n_nodes(graph);
    const auto size = static_cast<std::size_t>(2 * n + 64);  // ours come on top
    const std::size_t per_node = ggml_tensor_overhead() + ggml_graph_overhead_custom(1, false);
    memory_.resize(ggml_graph_overhead_custom(size, false) + size * per_node);
    if (context_ != nullptr) ggml_free(context_);
    context_ = ggml_init({memory_.size(), memory_.data(), true});
    plan_ = ggml_new_graph_custom(context_, size, false);
    before_ = shared_ = {};
    if (lookahead_.on()) find_first(graph);
    for (int i = 0; i < n; i++) {
        const ggml_tensor* node = ggml_graph_node(graph, i);
        i = append(graph, i);
        append_sites(node);
    }
    end_serial(nullptr);
}

// Node i, and with it what runs together with it. Returns the last node consumed.
int DecodePlan::append(ggml_cgraph* graph, int i) {
    ggml_tensor* node = ggml_graph_node(graph, i);
    if (is_view(node) || done_.count(node) > 0) return i;
    if (node->op == GGML_OP_MUL_MAT_ID && model_.holds_experts(node->src[0])) return append_experts(graph, i);
    if (node->op != GGML_OP_MUL_MAT || !append_dense(graph, i)) append_node(node);
    return i;
}

void DecodePlan::append_node(ggml_tensor* node) {
    if (is_small(node)) {
        small_.push_back(node);
        return;
    }
    end_serial(nullptr);
    ggml_graph_add_node(plan_, node);
}

// Puts the small nodes collected so far into the plan, and the selection of a layer's experts after them.
void DecodePlan::end_serial(SelectOp* select) {
    if (small_.empty() && select == nullptr) return;
    SerialOp& op = serials_.emplace_back();
    op.run = &layer_;
    op.cpu = serial_;
    op.select = select;
    if (!small_.empty()) {
        op.graph = ggml_new_graph_custom(context_, small_.size(), false);
        for (ggml_tensor* node : small_) ggml_graph_add_node(op.graph, node);
        small_.clear();
    }
    append_op(guarded<SerialOp>, 1, &op);
}

void DecodePlan::append_op(ggml_custom_op_t run, int n_tasks, void* op) {
    static float nowhere;  // results go where the op's own node points
    ggml_tensor* t = ggml_custom_4d(context_, GGML_TYPE_F32, 1, 1, 1, 1, nullptr, 0, run, n_tasks, op);
    t->data = &nowhere;
    t->flags |= GGML_TENSOR_FLAG_COMPUTE;
    ggml_graph_add_node(plan_, t);
}

// The product at node i and those with the same layer's experts that run with it. Returns the last node
// consumed.
int DecodePlan::append_experts(ggml_cgraph* graph, int i) {
    const ggml_tensor* node = ggml_graph_node(graph, i);
    const std::uint32_t layer = model_.part_of(node->src[0]).layer;
    const bool first_of_layer = selects_.empty() || selects_.back().layer != layer;
    if (first_of_layer) {
        selects_.push_back({&layer_, layer, node->src[2], nullptr});
        end_serial(&selects_.back());
        if (lookahead_.on()) predict_next(graph, i);
    }
    end_serial(nullptr);
    const int last = first_of_layer ? append_ffn(graph, i) : -1;
    return last >= 0 ? last : append_products(graph, i);
}

// The whole layer's experts as one op; -1 when something between their products is not understood.
int DecodePlan::append_ffn(ggml_cgraph* graph, int i) {
    const ggml_tensor* first = ggml_graph_node(graph, i);
    const int twin = twin_of(graph, i);
    FfnOp op;
    op.run = &layer_;
    op.scratch = &scratch_;
    op.up.push_back(product_of(first));
    if (twin >= 0) op.up.push_back(product_of(ggml_graph_node(graph, twin)));
    std::sort(op.up.begin(), op.up.end(), [](const auto& a, const auto& b) { return a.part < b.part; });
    std::vector<const ggml_tensor*> known;
    for (const ExpertOp::Product& product : op.up) known.push_back(product.node);
    for (int j = std::max(i, twin) + 1; j < ggml_graph_n_nodes(graph); j++) {
        const ggml_tensor* node = ggml_graph_node(graph, j);
        if (is_view(node)) continue;
        if (FfnOp::ends_with(node, first, known) && model_.holds_experts(node->src[0])) {
            op.down = product_of(node);
            op.prepare();
            selects_.back().input = first->src[1];
            ffns_.push_back(std::move(op));
            append_op(guarded<FfnOp>, GGML_N_TASKS_MAX, &ffns_.back());
            return j;
        }
        if (!FfnOp::takes(node, first->src[2], known)) return -1;
        op.between.push_back(node);
        known.push_back(node);
    }
    return -1;
}

// One product, or two with the same input.
int DecodePlan::append_products(ggml_cgraph* graph, int i) {
    const int twin = twin_of(graph, i);
    ExpertOp& op = experts_.emplace_back();
    op.run = &layer_;
    op.products.push_back(product_of(ggml_graph_node(graph, i)));
    if (twin >= 0) op.products.push_back(product_of(ggml_graph_node(graph, twin)));
    append_op(guarded<ExpertOp>, GGML_N_TASKS_MAX, &op);
    return std::max(i, twin);
}

// The next product where only views lie between and it takes the same input, or -1.
int DecodePlan::twin_of(ggml_cgraph* graph, int i) const {
    const ggml_tensor* node = ggml_graph_node(graph, i);
    for (int j = i + 1; j < ggml_graph_n_nodes(graph); j++) {
        const ggml_tensor* other = ggml_graph_node(graph, j);
        if (is_view(other)) continue;
        const bool twin = other->op == GGML_OP_MUL_MAT_ID && model_.holds_experts(other->src[0]) &&
                          same_input(node, other) && other->src[0]->type == node->src[0]->type &&
                          other->src[0]->ne[1] == node->src[0]->ne[1];
        return twin ? j : -1;
    }
    return -1;
}

ExpertOp::Product DecodePlan::product_of(const ggml_tensor* node) const {
    ExpertOp::Product product{node, model_.part_of(node->src[0]).part, {}};
    RowKernel::find(node->src[0]->type, product.kernel);
    return product;
}

// Where in this graph the first streamed layer can be predicted.
void DecodePlan::find_first(ggml_cgraph* graph) {
    for (int i = 0; i < ggml_graph_n_nodes(graph); i++) {
        const ggml_tensor* node = ggml_graph_node(graph, i);
        if (node->op != GGML_OP_MUL_MAT_ID || !model_.holds_experts(node->src[0])) continue;
        RouterSpec router;
        if (!find_router(node->src[2], model_.store().index().layers()[0].n_experts, router)) return;
        before_ = {Source::kBefore, 0, find_norm_before(graph, i, router), nullptr};
        if (before_.input != nullptr) lookahead_.learn_before(norm_weights(before_.input));
        return;
    }
}

// Scoring of the next layers from the one whose first product with experts is node i, where its router is
// understood.
void DecodePlan::predict_next(ggml_cgraph* graph, int i) {
    const ggml_tensor* ids = ggml_graph_node(graph, i)->src[2];
    const std::uint32_t layer = selects_.back().layer;
    RouterSpec router;
    if (!find_router(ids, model_.store().index().layers()[layer].n_experts, router)) return;
    if (!lookahead_.knows(layer)) lookahead_.learn(layer, router, static_cast<std::uint32_t>(ids->ne[0]));
    if (!lookahead_.knows(layer) || layer + 1 >= model_.store().index().n_layers()) return;
    append_predict({Source::kRouter, layer + 1, router.input, nullptr});
    const ggml_tensor* shared = shared_expert(graph, i, layer, router);
    if (shared != nullptr) shared_ = {Source::kShared, layer + 1, router.stream, shared};
}

const ggml_tensor* DecodePlan::shared_expert(ggml_cgraph* graph, int i, std::uint32_t layer, const RouterSpec& router) {
    std::optional<std::string>& name = shared_names_[layer];
    const ggml_tensor* found = nullptr;
    if (!name) {
        found = find_shared_expert(graph, i, router, kSharedWindow);
        name = found == nullptr ? "" : found->name;
        return found;
    }
    const int end = std::min(i + kSharedWindow, ggml_graph_n_nodes(graph));
    for (int j = i; j < end && !name->empty() && found == nullptr; j++) {
        if (*name == ggml_graph_node(graph, j)->name) found = ggml_graph_node(graph, j);
    }
    return found;
}

// What is to be predicted once this node has been computed.
void DecodePlan::append_sites(const ggml_tensor* node) {
    if (before_.input == node) append_predict(before_);
    if (shared_.shared == node) append_predict(shared_);
}

void DecodePlan::append_predict(const Site& site) {
    end_serial(nullptr);
    predicts_.push_back({&layer_, site});
    append_op(guarded<PredictOp>, GGML_N_TASKS_MAX, &predicts_.back());
}

// A product of one row with weights of ours, and those after it with the same input; false when ggml is
// to do it.
bool DecodePlan::append_dense(ggml_cgraph* graph, int i) {
    ggml_tensor* node = ggml_graph_node(graph, i);
    RowKernel kernel;
    if (!takes_product(node) || !RowKernel::find(node->src[0]->type, kernel)) return false;
    end_serial(nullptr);
    DenseOp& op = dense_.emplace_back();
    op.run = &layer_;
    op.products.push_back(node);
    op.kernel = kernel;
    join_products(graph, i, op);
    append_op(guarded<DenseOp>, GGML_N_TASKS_MAX, &op);
    return true;
}

bool DecodePlan::takes_product(const ggml_tensor* node) const {
    const ggml_tensor* w = node->src[0];
    const ggml_tensor* x = node->src[1];
    const bool one_row = ggml_nelements(x) == x->ne[0] && w->ne[2] == 1 && w->ne[3] == 1;
    const bool floats = x->type == GGML_TYPE_F32 && node->type == GGML_TYPE_F32;
    const bool hinted = node->op_params[1] != 0;  // asks for another algorithm
    return one_row && floats && !hinted && w->view_src == nullptr && model_.holds_resident(w);
}

// Query, key and value are three products with one input, with small nodes between them. A later one
// may run with the first where nothing in between reads or writes the memory of its result.
void DecodePlan::join_products(ggml_cgraph* graph, int i, DenseOp& op) {
    const ggml_tensor* first = ggml_graph_node(graph, i);
    const int end = std::min(i + 1 + kJoinWindow, ggml_graph_n_nodes(graph));
    for (int j = i + 1; j < end; j++) {
        const ggml_tensor* other = ggml_graph_node(graph, j);
        if (other->op != GGML_OP_MUL_MAT || other->src[1] != first->src[1]) continue;
        if (other->src[0]->type != first->src[0]->type || !takes_product(other)) continue;
        bool free = true;
        for (int k = i; k < j && free; k++) {
            const ggml_tensor* between = ggml_graph_node(graph, k);
            free = is_view(between) || !touches(between, other);
        }
        if (!free) continue;
        op.products.push_back(other);
        done_.insert(other);
    }
}

}  // namespace gannet
