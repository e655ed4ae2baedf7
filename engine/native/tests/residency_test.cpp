#include "residency.h"

#include <doctest/doctest.h>

#include <stdexcept>

using gannet::Key;
using gannet::Residency;

namespace {
void token(Residency& r, std::initializer_list<Key> keys) {
    r.begin_token();
    for (Key key : keys) {
        r.used(key);
    }
}
}  // namespace

TEST_CASE("an expert used often outlives one used once more recently") {
    Residency r(1, 4);
    token(r, {0});
    token(r, {0});
    token(r, {1});
    CHECK(r.worth(1) < r.worth(0));
}

TEST_CASE("old popularity fades, so a change of topic is not starved of cache") {
    Residency r(1, 4, {8.0});
    for (int i = 0; i < 4; ++i) {
        token(r, {0});
    }
    for (int i = 0; i < 80; ++i) {
        token(r, {});
    }
    token(r, {1});
    CHECK(r.worth(0) < r.worth(1));
}

TEST_CASE("ties go to the least recently used, then to the lower key") {
    Residency r(1, 4);
    token(r, {2, 1});
    CHECK(r.worth(2) < r.worth(1));
    CHECK(r.worth(0) < r.worth(3));
    CHECK_FALSE(r.worth(3) < r.worth(0));
}

TEST_CASE("the token of an expert's last use is known, counted over prompts too") {
    Residency r(1, 4);
    token(r, {0});
    token(r, {1});
    r.begin_prompt(10);
    r.used(2, 1, r.decay(3));
    token(r, {1});
    CHECK(r.last_uses() == std::vector<std::uint64_t>{1, 13, 9, 0});
}

TEST_CASE("an unused prefetch leaves before anything that was ever used") {
    Residency r(1, 4);
    token(r, {0});
    r.fetched(1, true);
    CHECK(r.worth(1) < r.worth(0));
    r.used(1);
    r.begin_token();
    CHECK(r.worth(0) < r.worth(1));
}

TEST_CASE("a prediction shields an expert only until its layer has run") {
    Residency r(2, 4);
    const Key key = 4 + 1;
    r.begin_token();
    CHECK_FALSE(r.shielded(key));
    r.expect(key);
    r.layer_ran(0);
    CHECK(r.shielded(key));
    r.layer_ran(1);
    CHECK_FALSE(r.shielded(key));
    r.begin_token();
    CHECK_FALSE(r.shielded(key));
}

TEST_CASE("a prediction for the next token's first layer survives the token boundary") {
    Residency r(2, 4);
    r.begin_token();
    r.layer_ran(0);
    r.expect(3);
    CHECK(r.shielded(3));
    r.begin_token();
    CHECK(r.shielded(3));
    r.layer_ran(0);
    CHECK_FALSE(r.shielded(3));
}

TEST_CASE("what a prompt's end uses outweighs what its beginning used, so the reply begins with it") {
    Residency r(1, 3, {8.0});
    r.begin_prompt(128);
    r.used(2, 1, r.decay(0));
    r.used(1, 1, r.decay(127));
    CHECK(r.worth(0) < r.worth(1));
    CHECK(r.worth(1) < r.worth(2));
    CHECK(r.uses()[1] == 1);
}

TEST_CASE("a prompt ages counts by its length and its own rows count") {
    Residency r(1, 4, {8.0});
    token(r, {0});
    token(r, {0});
    r.begin_prompt(64);
    r.used(1, 1);
    r.used(2, 64);
    r.begin_token();
    CHECK(r.worth(0) < r.worth(1));
    CHECK(r.worth(1) < r.worth(2));
}

TEST_CASE("a ubatch of one row weighs as much as a decoded token") {
    Residency a(1, 2);
    Residency b(1, 2);
    a.begin_token();
    a.used(0);
    b.begin_prompt(1);
    b.used(0, 1);
    a.begin_token();
    b.begin_token();
    CHECK(a.worth(0).density == doctest::Approx(b.worth(0).density));
}

TEST_CASE("counts stay finite and ordered over a million tokens") {
    Residency r(1, 3, {4.0});
    for (int i = 0; i < 1000000; ++i) {
        token(r, {0});
        if (i % 4 == 0) {
            r.used(1);
        }
    }
    CHECK(r.worth(2) < r.worth(1));
    CHECK(r.worth(1) < r.worth(0));
    CHECK(r.worth(0).density < 1e300);
    CHECK(r.worth(1).density > 0.0);
    CHECK(r.uses()[0] == 1000000);
}

TEST_CASE("the census counts every selection, undecayed") {
    Residency r(1, 3);
    r.begin_prompt(512);
    r.used(1, 300);
    token(r, {1, 2});
    CHECK(r.uses()[0] == 0);
    CHECK(r.uses()[1] == 301);
    CHECK(r.uses()[2] == 1);
}

TEST_CASE("impossible shapes are refused") {
    CHECK_THROWS_AS(Residency(0, 4), std::invalid_argument);
    CHECK_THROWS_AS(Residency(4, 0), std::invalid_argument);
    CHECK_THROWS_AS(Residency(1, 1, {0.0}), std::invalid_argument);
    CHECK_THROWS_AS(Residency(1, 1, {4.0, -1.0}), std::invalid_argument);
}

TEST_CASE("of equals, the expert whose layer runs next stays and that of the layer just run leaves") {
    Residency r(4, 2);
    r.begin_token();
    for (std::uint32_t layer = 0; layer < 4; ++layer) {
        r.used(layer * 2);
        r.layer_ran(layer);
    }
    r.begin_token();
    r.used(0);  // layer 0 runs: 1 is next, then 2, then 3, and 0 itself only a token later
    r.used(1);
    CHECK(r.worth(6) < r.worth(4));
    CHECK(r.worth(4) < r.worth(2));
    CHECK(r.worth(1) < r.worth(6));
    r.layer_ran(0);
    r.used(2);
    r.layer_ran(1);
    CHECK(r.worth(2) < r.worth(0));
    CHECK(r.worth(0) < r.worth(4));
}

TEST_CASE("a layer's turn yet to come in this token does not make its experts look older") {
    Residency r(2, 1, {1.0, 1000.0});
    for (int i = 0; i < 50; ++i) {
        r.begin_token();
        r.used(0);
        r.layer_ran(0);
        if (i < 49) {
            r.used(1);
            r.layer_ran(1);
        }
    }
    CHECK(r.worth(0).density == doctest::Approx(r.worth(1).density).epsilon(0.01));
}

TEST_CASE("where routing sticks recency decides, where it does not frequency does") {
    Residency sticky(1, 8);
    Residency free(1, 8);
    std::uint32_t random = 1;
    for (std::uint32_t i = 0; i < 800; ++i) {
        sticky.begin_token();
        sticky.used(i / 20 % 8);  // each expert for 20 tokens in a row
        if (i % 2 == 0) sticky.used((i / 20 + 4) % 8);
        sticky.layer_ran(0);
        free.begin_token();
        random = random * 1664525U + 1013904223U;
        free.used(random >> 31 == 0 ? 0 : 1 + (random >> 8) % 5);  // 0 every other time, without memory
        free.layer_ran(0);
    }
    // The last stretch was expert 7's; all were used alike over time.
    for (Key other : {0U, 1U, 2U, 4U, 5U, 6U}) CHECK(sticky.worth(other) < sticky.worth(7));
    for (Key other : {1U, 2U, 3U, 4U, 5U}) CHECK(free.worth(other) < free.worth(0));
}

TEST_CASE("a census gives a warm cache an order before anything ran, and fades under what does run") {
    Residency r(2, 3);
    r.recall({5, 90, 5, 0, 0, 0}, 1);
    CHECK(r.worth(0) < r.worth(1));
    CHECK(r.uses()[1] == 0);
    for (int i = 0; i < 1500; ++i) token(r, {2});
    CHECK(r.worth(1) < r.worth(2));
    r.recall({1, 2, 3}, 1);
    CHECK(r.worth(1) < r.worth(2));
}
