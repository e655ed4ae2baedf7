// Reads the always-needed weights into memory, several at once, while llama.cpp goes on loading.
//
// What is to be read becomes a queue of pieces for the reader's threads. Where a piece lies in memory as it
// lies in the file, as far from a block's beginning, its whole blocks are read into place; the rest goes
// through an aligned bounce buffer (direct reads cannot target other addresses). finish() waits for all.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "direct_file.h"

namespace gannet {

class ResidentReader {
  public:
    ResidentReader(std::vector<std::string> paths, std::uint32_t threads, bool direct);
    ~ResidentReader();
    ResidentReader(const ResidentReader&) = delete;
    ResidentReader& operator=(const ResidentReader&) = delete;

    // Queues bytes [offset, offset + size) of a file to be copied to `to`, which must stay valid until finish().
    void read(std::uint32_t file, std::uint64_t offset, std::uint64_t size, std::byte* to);
    // Waits for everything queued that was not dropped and ends the threads: nothing can be read after it.
    // Returns the first error, or an empty string.
    std::string finish();
    // Drops what is not begun.
    void cancel();
    std::uint64_t bytes_queued() const { return queued_.load(std::memory_order_relaxed); }
    std::uint64_t bytes_done() const { return done_.load(std::memory_order_relaxed); }

  private:
    struct Piece {
        std::uint32_t file = 0;
        std::uint64_t offset = 0;
        std::uint64_t size = 0;
        std::byte* to = nullptr;
    };
    void main(std::byte* bounce);
    void end_threads();
    std::string copy(std::vector<DirectFile>& files, std::byte* bounce, const Piece& piece);
    static void copy_through(const DirectFile& file, std::byte* bounce, const Piece& piece, std::uint64_t block);

    std::vector<std::string> paths_;
    bool direct_;
    std::atomic<std::uint64_t> queued_{0};
    std::atomic<std::uint64_t> done_{0};
    std::mutex mutex_;
    std::condition_variable work_;
    std::condition_variable idle_;
    std::deque<Piece> pieces_;
    std::uint32_t in_service_ = 0;  // pieces being read
    std::string error_;
    bool stop_ = false;
    std::vector<std::thread> threads_;
};

}  // namespace gannet
