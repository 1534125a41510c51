# frozen_string_literal: true

require "test_helper"
require "bontebok/sockets/diag/sock_diag"

# Tests the headers of the messages to and from the kernel.
class SockDiagTest < Minitest::Test
  SockDiag = Bontebok::SockDiag

  def test_a_request_gets_the_header_of_the_kernel
    header, body = SockDiag.message("request").unpack("a16a*")
    assert_equal [23, 20, 0x301, 0, 0], header.unpack("LSSLL")
    assert_equal "request", body
  end

  def test_messages_are_separated_at_multiples_of_four_bytes
    received = [[netlink(20, "a"), netlink(21, "bcde")].join, [netlink(20, ""), netlink(3, "done")].join]
    assert_equal(["a", "bcde", ""], SockDiag.receive { received.shift })
  end

  def test_an_error_of_the_kernel_is_raised
    error = netlink(2, [-Errno::ENOENT::Errno].pack("l"))
    assert_raises(Errno::ENOENT) { SockDiag.receive { error } }
  end

  private

  def netlink(type, body)
    padding = "\0" * (-body.bytesize % 4)
    [16 + body.bytesize, type, 0, 0, 0].pack("LSSLL") + body + padding
  end
end
