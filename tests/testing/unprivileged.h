// Tests of what must not be readable, also where the tests run as root.
#ifndef TESTS_TESTING_UNPRIVILEGED_H_
#define TESTS_TESTING_UNPRIVILEGED_H_

#include <unistd.h>

#include <gtest/gtest.h>

namespace rag::testing {

// While it lives, root is the user "nobody". Anybody else stays who he is.
class Unprivileged {
 public:
  Unprivileged() : is_root_(geteuid() == 0) {
    constexpr uid_t kNobody = 65534;
    EXPECT_EQ(is_root_ ? seteuid(kNobody) : 0, 0);
  }
  ~Unprivileged() { EXPECT_EQ(is_root_ ? seteuid(0) : 0, 0); }
  Unprivileged(const Unprivileged&) = delete;
  Unprivileged& operator=(const Unprivileged&) = delete;

 private:
  bool is_root_;
};

}  // namespace rag::testing

#endif  // TESTS_TESTING_UNPRIVILEGED_H_
