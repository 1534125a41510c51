# frozen_string_literal: true

require "test_helper"
require "json"
require_relative "../support/children_case"

# Tests the words (messages) that a parent sends to its children, changes of the number of children, time limits, and
# #kill.
class ChildrenOrdersTest < Support::TestCase
  include ChildrenCase

  # Ends when it reads :quit. The exit status is the number of :reopen words before :quit.
  COUNTING = lambda do |channel|
    channel.say(:loaded)
    words = []
    words.concat(channel.hear) until words.include?(:quit) || !channel.to_io.wait_readable
    words.count(:reopen)
  end

  def test_a_loading_child_gets_a_word_when_it_is_loaded
    wait, loaded = IO.pipe
    keep(1) { ->(channel) { wait.read(1) && COUNTING.call(channel) } }
    mind_until { @started.any? }
    said = []
    @started[0].channel.define_singleton_method(:say) { |word| super(word).tap { said << word } }
    @keeper.tell(:reopen)
    assert_empty said
    loaded.write(".")
    mind_until { @keeper.any?(:loaded) }
    assert_equal [:reopen], said
    @keeper.tell(:reopen)
    @keeper.stop(:quit)
    mind_until { @keeper.empty? }
    assert_equal 2, @started[0].status.exitstatus
  ensure
    [wait, loaded].each(&:close)
  end

  # The loop sends the words when the child reads.
  def test_a_child_that_reads_late_gets_all_words
    wait, reads = IO.pipe
    begin_late(wait)
    tell_too_much
    @keeper.stop(:quit)
    reads.write(".")
    mind_until { @keeper.empty? }
    assert_equal 255, @started[0].status.exitstatus
  ensure
    [wait, reads].each(&:close)
  end

  # Another program becomes the parent of the same children.
  def test_words_that_wait_are_carried
    wait, reads = IO.pipe
    begin_late(wait)
    unsent = tell_too_much
    state = JSON.parse(JSON.generate(@keeper.carry[0][0]))
    copy = Bontebok::Channel.copy(@started[0].channel.to_io.fileno)
    Bontebok::Children.new("worker", 1, pause: 1, grace: 1, log: nil).restore([[state, copy]])
    assert_equal unsent, copy.unsent
  ensure
    [wait, reads, *copy].each(&:close)
  end

  def test_the_number_of_children_can_change_but_the_last_child_stays
    keep(1) { STEADY }
    mind_until { @keeper.settled?(:ready) }
    2.times { @keeper.more }
    mind_until { @started.size == 3 && @keeper.settled?(:ready) }
    3.times { @keeper.fewer }
    mind_until { @started.drop(1).all? { |child| gone?(child) } && logged.match?(/1 worker$/) }
    assert_alive @started[0]
    assert_equal [1, 2, 3], @started.map(&:number)
    assert_equal ["3 workers", "1 worker"], logged.scan(/\d workers?$/)
  end

  def test_a_child_that_is_not_needed_ends_together_with_its_replacement
    keep(2) { @started.size < 2 ? STEADY : LOADING }
    mind_until { @keeper.settled?(:ready) }
    @keeper.renew
    mind_until { @started.size == 4 }
    @keeper.fewer
    mind_until { @started.select { |child| child.number == 2 }.all? { |child| gone?(child) } }
    assert_alive @started[0]
    assert_equal 4, @started.size
  end

  def test_a_child_that_does_not_become_ready_in_time_has_failed
    keep(2, boot: 60) { |number| number == 1 ? LOADING : STEADY }
    mind_until { @keeper.any?(:ready) }
    refute @keeper.settled?(:ready)
    pass_time(60)
    mind_until { @keeper.settled?(:ready) }
    assert_log(/worker 1 \(pid \d+\) did not become ready within 60 s: killed$.*before it was ready: .*SIGKILL/m)
    assert @keeper.any?(:ready)
  end

  def test_a_loaded_child_waits_for_go_without_a_limit
    keep(1, boot: 60) { WAITING }
    mind_until { @keeper.any?(:loaded) }
    assert_nil @started[0].deadline
    @keeper.go
    assert @started[0].deadline
    mind_until { @keeper.any?(:ready) }
    assert_nil @started[0].deadline
  end

  # As in a rollback: the children from before #stop still finish their requests.
  def test_children_that_leave_are_not_children_that_are_ready_again
    keep(1, pause: 30) { @started.empty? ? STUBBORN : FAILING }
    stop_and_resume
    mind_until { logged.include?("before it was ready") }
    assert @keeper.settled?(:ready)
    refute @keeper.any?(:ready)
    assert_alive @started[0]
  end

  def test_failures_from_before_a_stop_do_not_count_afterwards
    keep(1, pause: 30) { @started.empty? ? FAILING : STEADY }
    stop_and_resume
    mind_until { @keeper.any?(:ready) }
  end

  def test_a_rejected_fork_from_before_a_stop_does_not_count_afterwards
    keep(1, pause: 30) { (@attempts = @attempts.to_i + 1) == 1 ? raise(Errno::EAGAIN) : STEADY }
    stop_and_resume
    mind_until { @keeper.any?(:ready) }
  end

  def test_a_rejected_fork_counts_although_a_child_from_before_the_stop_leaves
    keep(1, pause: 30) { @started.empty? ? STUBBORN : raise(Errno::EAGAIN) }
    stop_and_resume
    mind_until { @keeper.settled?(:ready) }
    refute @keeper.any?(:ready)
    assert_alive @started[0]
  end

  def test_kill_kills_all_children_and_the_log_names_them
    keep(2, grace: 60) { STUBBORN }
    mind_until { @keeper.settled?(:ready) }
    @keeper.stop(:quit)
    2.times { @keeper.kill }
    mind_until { @keeper.empty? }
    assert_equal([9, 9], @started.map { |child| child.status.termsig })
    assert_equal @started.map(&:pid), logged.scan(/pid (\d+)\) has not ended: killed/).flatten.map(&:to_i)
  end

  private

  # The child reads its words when the test writes to the pipe.
  def begin_late(wait)
    behaviour = lambda do |channel|
      channel.say(:loaded)
      wait.read(1)
      COUNTING.call(channel)
    end
    keep(1) { behaviour }
    mind_until { @keeper.any?(:loaded) }
  end

  # Says more words than the socket has room for. Returns those that wait.
  def tell_too_much
    511.times { @keeper.tell(:reopen) }
    refute_empty @started[0].channel.unsent
    @started[0].channel.unsent
  end

  # Afterwards @keeper waits for new children.
  def stop_and_resume
    mind_until { @keeper.settled?(:ready) }
    @keeper.stop(:retire)
    @keeper.resume
    refute @keeper.settled?(:ready)
  end
end
