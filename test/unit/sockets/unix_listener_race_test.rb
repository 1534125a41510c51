# frozen_string_literal: true

require "test_helper"
require_relative "../../support/unix_listener_case"

# Several servers start on the same unix socket at the same moment. One server listens, and all other servers fail.
class UnixListenerRaceTest < Support::UnixListenerCase
  def test_the_later_of_two_listeners_that_bind_at_the_same_time_fails
    first = listener.tap(&:bind)
    second = listener.tap(&:bind)
    first.listen
    assert refused?(second)
    second.unlink
    assert_equal ["a.sock"], Dir.children(temp_dir)
  end

  # At each C call of the first listener, a rival in another thread calls #listen. The rival runs until it ends or
  # blocks.
  def test_one_of_two_listeners_that_listen_at_the_same_time_fails
    moments = (1..).take_while { |moment| one_listens_when_a_rival_comes_at(moment) }
    assert_operator moments.size, :>, 10
  end

  def test_a_listener_listens_without_a_lock_on_its_directory
    File.open(temp_dir) do |directory|
      directory.flock(File::LOCK_EX)
      listener.tap(&:bind).tap(&:listen).unlink
    end
    File.stub(:new, ->(*) { raise Errno::EACCES }) { listener.tap(&:bind).listen }
    assert_path_exists @path
  end

  private

  # moment: the number of the C call at which the rival starts. Returns nil if the first listener makes fewer calls.
  def one_listens_when_a_rival_comes_at(moment)
    UNIXServer.new(path = File.join(temp_dir, "#{moment}.sock")).close
    both = Array.new(2) { listener(path).tap(&:bind) }
    rival = nil
    calls = 0
    here = Thread.current
    at_the_moment = TracePoint.new(:c_call) do
      next unless Thread.current == here && (calls += 1) == moment

      rival = Thread.new { refused?(both.last) }
      Thread.pass until rival.stop?
    end
    refused = at_the_moment.enable { refused?(both.first) }
    assert_equal [true, false], [refused, rival.value].sort_by(&:to_s).reverse, "call #{moment}" if rival
    both.each(&:close)
    rival
  end

  def refused?(listener)
    listener.listen
    false
  rescue Bontebok::StartError
    true
  end
end
