# frozen_string_literal: true

require "test_helper"
require "bontebok/sockets/diag/unix_diag"

# Tests the messages about unix sockets. AcceptQueuesTest has real sockets.
class UnixDiagTest < Minitest::Test
  UnixDiag = Bontebok::UnixDiag

  def test_a_request_has_the_layout_of_the_kernel
    assert_equal [1, 0, 1 << 10, 0, 0x13, 0, 0], UnixDiag.request.unpack("CCx2L3L2")
    assert_equal 24, UnixDiag.request.bytesize
  end

  def test_a_socket_is_read_from_its_message
    found = read([0, "/run/a.sock\0"], [1, [7, 8].pack("L2")], [4, [2, 128].pack("L2")], [6, "\0"])
    assert_equal ["/run/a.sock", 8, 7, 2, 128], found.to_a
  end

  def test_an_abstract_name_has_a_nul
    assert_equal "\0a\0b", read([0, "\0a\0b"]).name
  end

  def test_a_socket_may_have_no_name_and_no_file
    assert_equal [nil] * 5, read.to_a
    assert_equal [nil] * 5, UnixDiag.read("").to_a
  end

  # A length that cannot be true does not make the reader loop.
  def test_a_broken_attribute_ends
    assert_nil UnixDiag.read(["x" * 16, 0, 4, "rest"].pack("a16SSa*")).queued
    assert_nil UnixDiag.read(["x" * 16, 9999, 0].pack("a16SS")).backlog
  end

  private

  def read(*attributes)
    UnixDiag.read(["x" * 16, *attributes.map { |type, value| attribute(type, value) }].join)
  end

  def attribute(type, value)
    [4 + value.bytesize, type].pack("SS") + value + ("\0" * (-value.bytesize % 4))
  end
end
