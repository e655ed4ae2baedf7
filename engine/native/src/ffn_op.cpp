#include "ffn_op.h"

#include <algorithm>
#include <thread>

#include "cpu_library.h"
#include "row_cut.h"

namespace gannet {
namespace {

constexpr int kSpins = 48;  // looks at what others finish before sleeping on the reads
constexpr int kMaxBetween = 12;
constexpr std::size_t kAlign = 64;

std::size_t padded(std::size_t n) {
    return (n + kAlign - 1) / kAlign * kAlign;
}

// Per thread of ggml's team: a backend of one thread and a graph for the nodes of one row.
class RowGraph {
  public:
    RowGraph() : cpu_(ggml_backend_dev_init(cpu_library().device, nullptr)) {
        cpu_library().set_n_threads(cpu_, 1);
        memory_.resize(ggml_graph_overhead_custom(2 * kMaxBetween, false) + 1024);
        context_ = ggml_init({memory_.size(), memory_.data(), true});
        graph_ = ggml_new_graph_custom(context_, 2 * kMaxBetween, false);
        tensors_.reserve(kMaxBetween * (GGML_MAX_SRC + 1));
    }
    ~RowGraph() {
        ggml_free(context_);
        ggml_backend_free(cpu_);
    }
    RowGraph(const RowGraph&) = delete;
    RowGraph& operator=(const RowGraph&) = delete;

    void begin() {
        ggml_graph_clear(graph_);
        tensors_.clear();
    }
    // A copy that may be changed; valid until begin().
    ggml_tensor* copy(const ggml_tensor* t) { return &tensors_.emplace_back(*t); }
    void add(ggml_tensor* node) { ggml_graph_add_node(graph_, node); }
    bool run() { return ggml_backend_graph_compute(cpu_, graph_) == GGML_STATUS_SUCCESS; }

  private:
    ggml_backend_t cpu_;
    std::vector<std::byte> memory_;
    ggml_context* context_ = nullptr;
    ggml_cgraph* graph_ = nullptr;
    std::vector<ggml_tensor> tensors_;
};

thread_local ReadyVector input_vector;
thread_local ReadyVector row_vector;
thread_local RowGraph row_graph;

const ggml_tensor* owner(const ggml_tensor* t) {
    return t->view_src != nullptr ? t->view_src : t;
}

// One thread's share of the layer.
class Worker {
  public:
    explicit Worker(FfnOp& op)
        : op_(op),
          store_(op.run->model->store()),
          up_cut_(op.up[0].node->src[0], 1),
          down_cut_(op.down.node->src[0], 1),
          up_total_(static_cast<std::uint32_t>(op.up.size()) * up_cut_.chunks) {}

    void work() {
        for (int idle = 0; !failed();) {
            if (do_some()) {
                idle = 0;
            } else if (all_taken()) {
                return;
            } else if (++idle <= kSpins || !waits_for_reads()) {
                std::this_thread::yield();
            } else {
                store_.wait_until([this] { return failed() || something_to_do() || !waits_for_reads(); });
                idle = 0;
            }
        }
    }

  private:
    bool failed() const { return op_.run->failed.load(std::memory_order_relaxed); }
    std::int32_t slot(std::uint32_t k) const { return op_.run->slots[k]; }
    const FfnOp::Rank& rank(std::uint32_t k) const { return op_.ranks[k]; }

    // What the expert needs next is in memory and not all of it taken.
    bool can_go_on(std::uint32_t k) const {
        const FfnOp::Rank& r = rank(k);
        if (r.activated.load(std::memory_order_acquire)) {
            return r.down_next.load(std::memory_order_relaxed) < down_cut_.chunks &&
                   store_.ready(slot(k), op_.down.part);
        }
        const std::uint32_t c = r.up_next.load(std::memory_order_relaxed);
        return c < up_total_ && store_.ready(slot(k), op_.up[c / up_cut_.chunks].part);
    }
    bool waits_for_read(std::uint32_t k) const {
        const FfnOp::Rank& r = rank(k);
        if (r.activated.load(std::memory_order_acquire)) {
            return r.down_next.load(std::memory_order_relaxed) < down_cut_.chunks &&
                   !store_.ready(slot(k), op_.down.part);
        }
        const std::uint32_t c = r.up_next.load(std::memory_order_relaxed);
        return c < up_total_ && !store_.ready(slot(k), op_.up[c / up_cut_.chunks].part);
    }
    bool something_to_do() const {
        return std::any_of(order().begin(), order().end(), [this](std::uint32_t k) { return can_go_on(k); });
    }
    bool waits_for_reads() const {
        return std::any_of(order().begin(), order().end(), [this](std::uint32_t k) { return waits_for_read(k); });
    }
    bool all_taken() const {
        return std::all_of(order().begin(), order().end(), [this](std::uint32_t k) {
            return rank(k).down_next.load(std::memory_order_relaxed) >= down_cut_.chunks;
        });
    }
    const std::vector<std::uint32_t>& order() const { return op_.run->order; }

    // Takes one chunk of the first expert that has one to take.
    bool do_some() {
        for (const std::uint32_t k : order()) {
            if (!can_go_on(k)) continue;
            FfnOp::Rank& r = op_.ranks[k];
            const bool activated = r.activated.load(std::memory_order_acquire);
            std::atomic<std::uint32_t>& next = activated ? r.down_next : r.up_next;
            std::uint32_t c = next.load(std::memory_order_relaxed);
            if (c >= (activated ? down_cut_.chunks : up_total_)) continue;
            if (!next.compare_exchange_strong(c, c + 1, std::memory_order_relaxed)) return true;
            if (activated) {
                down(k, c);
            } else {
                up(k, c);
            }
            return true;
        }
        return false;
    }

    const std::byte* weights(std::uint32_t k, std::uint32_t part) {
        const std::byte* data = store_.wait(slot(k), part);
        if (data == nullptr) op_.run->failed.store(true, std::memory_order_relaxed);
        return data;
    }

    void up(std::uint32_t k, std::uint32_t c) {
        const std::size_t which = c / up_cut_.chunks;
        const ExpertOp::Product& product = op_.up[which];
        const std::byte* data = weights(k, product.part);
        if (data == nullptr) return;
        const ggml_tensor* w = product.node->src[0];
        const float* x = op_.run->input_row(k);
        if (x != input_) input_vector.set(product.kernel, x, w->ne[0]);
        input_ = x;
        c %= up_cut_.chunks;
        multiply_rows(product.kernel, rows_at(w, data), up_cut_.begin(c), up_cut_.end(c, w), input_vector,
                      reinterpret_cast<float*>(row_of(op_.memory[which], k)));
        if (op_.ranks[k].up_done.fetch_add(1, std::memory_order_acq_rel) + 1 == up_total_) activate(k);
    }

    void down(std::uint32_t k, std::uint32_t c) {
        const std::byte* data = weights(k, op_.down.part);
        if (data == nullptr) return;
        const ggml_tensor* w = op_.down.node->src[0];
        if (static_cast<std::int64_t>(k) != row_) {
            row_vector.set(op_.down.kernel, reinterpret_cast<const float*>(row_of(memory_of(op_.down.node->src[1]), k)),
                           w->ne[0]);
        }
        row_ = k;
        multiply_rows(op_.down.kernel, rows_at(w, data), down_cut_.begin(c), down_cut_.end(c, w), row_vector,
                      output_row(op_.down.node, k));
    }

    const FfnOp::Memory& memory_of(const ggml_tensor* t) const {
        const auto of = [t](const FfnOp::Memory& m) { return m.node == owner(t); };
        return *std::find_if(op_.memory.begin(), op_.memory.end(), of);
    }
    std::byte* row_of(const FfnOp::Memory& m, std::uint32_t k) { return op_.scratch->data() + m.begin + k * m.row; }

    // ggml's nodes between the products, on the row of one expert.
    void activate(std::uint32_t k) {
        row_graph.begin();
        for (const ggml_tensor* node : op_.between) {
            ggml_tensor* t = one_row(node, k);
            for (ggml_tensor*& s : t->src) {
                if (s != nullptr && s->op != GGML_OP_NONE) s = one_row(s, k);
            }
            row_graph.add(t);
        }
        if (!row_graph.run()) op_.run->failed.store(true, std::memory_order_relaxed);
        op_.ranks[k].activated.store(true, std::memory_order_release);
    }

    // The tensor with row k alone: in scratch, or of the ids where they are.
    ggml_tensor* one_row(const ggml_tensor* t, std::uint32_t k) {
        ggml_tensor* row = row_graph.copy(t);
        if (t->type == GGML_TYPE_I32) {
            row->data = static_cast<std::byte*>(t->data) + k * t->nb[0];
            row->ne[0] = 1;
            return row;
        }
        const FfnOp::Memory& m = memory_of(t);
        row->data = row_of(m, k) + (t->view_src != nullptr ? t->view_offs : 0);
        row->ne[1] = 1;
        for (int i = 1; i < GGML_MAX_DIMS; i++) row->nb[i] = m.row;
        row->view_src = nullptr;
        return row;
    }

    FfnOp& op_;
    ExpertStore& store_;
    Cut up_cut_;
    Cut down_cut_;
    std::uint32_t up_total_;
    const float* input_ = nullptr;  // what input_vector holds
    std::int64_t row_ = -1;         // whose row row_vector holds
};

bool one_row_a_rank(const ggml_tensor* t, std::int64_t ranks) {
    return t->type == GGML_TYPE_F32 && t->ne[1] == ranks && t->ne[2] == 1 && t->ne[3] == 1 && t->nb[0] == sizeof(float);
}

}  // namespace

bool FfnOp::takes(const ggml_tensor* node, const ggml_tensor* ids, const std::vector<const ggml_tensor*>& before) {
    switch (node->op) {
        case GGML_OP_GLU:
        case GGML_OP_UNARY:
        case GGML_OP_CLAMP:
        case GGML_OP_SCALE:
        case GGML_OP_SQR:
        case GGML_OP_MUL:
        case GGML_OP_ADD_ID:
            break;
        default:
            return false;
    }
    if (before.size() >= kMaxBetween || !one_row_a_rank(node, ids->ne[0])) return false;
    const auto known = [&](const ggml_tensor* t) { return std::find(before.begin(), before.end(), t) != before.end(); };
    for (const ggml_tensor* s : node->src) {
        if (s == nullptr) continue;
        const bool bias = node->op == GGML_OP_ADD_ID && s == node->src[1] && s->op == GGML_OP_NONE;
        const bool choice = node->op == GGML_OP_ADD_ID && s == node->src[2] && s == ids;
        const bool row = one_row_a_rank(s, ids->ne[0]) && known(owner(s));
        if (!bias && !choice && !row) return false;
    }
    return node->view_src == nullptr || known(node->view_src);
}

bool FfnOp::ends_with(const ggml_tensor* node, const ggml_tensor* first, const std::vector<const ggml_tensor*>& known) {
    if (node->op != GGML_OP_MUL_MAT_ID || node->src[2] != first->src[2]) return false;
    const ggml_tensor* input = node->src[1];
    const bool whole = owner(input) == input || input->view_offs == 0;
    return whole && one_row_a_rank(input, first->src[2]->ne[0]) &&
           std::find(known.begin(), known.end(), owner(input)) != known.end();
}

void FfnOp::prepare() {
    std::size_t size = 0;
    const std::int64_t n = down.node->ne[1];
    const auto add = [&](const ggml_tensor* node) {
        const std::size_t row = padded(ggml_row_size(GGML_TYPE_F32, node->ne[0]));
        memory.push_back({node, size, row});
        size += row * static_cast<std::size_t>(n);
    };
    for (const ExpertOp::Product& product : up) add(product.node);
    for (const ggml_tensor* node : between) add(node);
    if (scratch->size() < size) scratch->resize(size);
    ranks = std::make_unique<Rank[]>(static_cast<std::size_t>(n));
}

void FfnOp::compute(ggml_tensor*, int ith, int, void* self) {
    FfnOp& op = *static_cast<FfnOp*>(self);
    if (op.run->failed.load(std::memory_order_relaxed)) return;
    const std::uint64_t begin = now_ns();
    if (ith == 0) op.run->publish();
    Worker(op).work();
    if (ith == 0) count(op.run->model->counters().expert_ns, now_ns() - begin);
}

}  // namespace gannet
