# frozen_string_literal: true

require "test_helper"
require "bontebok/status/kernel_waits"

class KernelWaitsTest < Minitest::Test
  KernelWaits = Bontebok::Status::KernelWaits

  # Names of Linux 5.10 to 6.12.
  LOCKS = %w[futex_wait_queue_me futex_wait_queue futex_do_wait __futex_wait].freeze
  OTHERS = %w[do_sys_poll poll_schedule_timeout do_poll do_epoll_wait ep_poll do_select wait_woken sk_wait_data
              __skb_wait_for_more_packets inet_csk_accept unix_stream_data_wait tcp_recvmsg pipe_read anon_pipe_read
              do_wait].freeze
  NEITHER = ["hrtimer_nanosleep", "do_nanosleep", "rpc_wait_bit_killable", "folio_wait_bit_common", "flock_lock_wait",
             "do_wait_intr", "", nil].freeze

  def test_waits_for_locks
    assert_equal(LOCKS, (LOCKS + OTHERS + NEITHER).select { |name| KernelWaits.lock?(thread(name)) })
    refute KernelWaits.lock?(thread("futex_do_wait", "R"))
  end

  def test_waits_for_other_programs
    assert_equal(OTHERS, (LOCKS + OTHERS + NEITHER).select { |name| KernelWaits.others?(thread(name)) })
    refute KernelWaits.others?(thread("ep_poll", nil))
  end

  def test_a_thread_of_which_the_kernel_tells_too_little
    unknown = ["S", "D", "T", nil].map { |run| thread(nil, run) } << thread("ep_poll", nil)
    known = [thread(nil, "R"), thread("ep_poll"), thread("hrtimer_nanosleep", "D")]
    assert_equal(unknown, (unknown + known).select { |one| KernelWaits.unknown?(one) })
  end

  def test_the_summary_has_the_three_most_frequent_functions
    threads = ["a", "c", "b", "c", "d", nil, "c", "b"].map { |name| thread(name) }
    assert_equal "c 3, b 2, a 1, others 2", KernelWaits.summary(threads)
    assert_equal "a 1, b 1, unknown 1", KernelWaits.summary([thread("b"), thread(nil), thread("a")])
    assert_equal "a", KernelWaits.summary([thread("a")])
  end

  private

  def thread(kernel, run = "S") = { kernel: kernel, run: run }
end
