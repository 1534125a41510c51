# frozen_string_literal: true

require "test_helper"
require "bontebok/sockets/channel"

# Tests the channel between a process and its child. The two processes send words such as :ready.
class ChannelTest < Minitest::Test
  def setup
    @parent, @child = Bontebok::Channel.pair
  end

  def teardown
    [@parent, @child].each(&:close)
  end

  def test_words_go_both_ways_in_order
    %i[go drain retire quit].each { |word| @parent.say(word) }
    %i[loaded ready leave].each { |word| @child.say(word) }
    assert_equal [%i[loaded ready leave], %i[go drain retire quit]], [@parent.hear, @child.hear]
  end

  # A handler of a signal says another word just after the first one was sent.
  def test_a_word_is_sent_once_if_a_signal_interrupts
    words = [:leave]
    said = @child
    @child.to_io.define_singleton_method(:sendmsg_nonblock) do |*args, **options|
      super(*args, **options).tap { words.pop&.then { |word| said.say(word) } }
    end
    @child.say(:ready)
    assert_equal %i[ready leave], @parent.hear
    assert_empty @child.unsent
  end

  def test_no_word_is_lost_while_the_other_process_does_not_read
    1000.times { @parent.say(:more) }
    @parent.say(:retire)
    assert_predicate Bontebok::Channel, :full?
    words = hear_all { Bontebok::Channel.flush }
    assert_equal [1001, :retire], [words.size, words.last]
    refute_predicate Bontebok::Channel, :full?
  end

  def test_words_that_wait_are_sent_when_the_process_hears
    1000.times { @child.say(:crashed) }
    assert_equal 1000, hear_all { @child.hear }.size
  end

  def test_words_that_wait_for_a_process_that_is_gone_are_lost
    1000.times { @parent.say(:more) }
    @child.close
    Bontebok::Channel.flush
    refute_predicate Bontebok::Channel, :full?
  end

  def test_only_the_first_unknown_word_is_logged
    log = Minitest::Mock.new.expect(:warn, true, [/\Aignores the message "\?": another version/])
    Bontebok::Channel.log = log
    3.times { @child.to_io.write("g?") }
    assert_equal %i[go go go], @parent.hear
    log.verify
  ensure
    Bontebok::Channel.log = nil
    Bontebok::Channel.instance_variable_set(:@unknown, nil)
  end

  def test_hear_does_not_block
    assert_equal [], @child.hear
  end

  def test_hear_returns_closed_after_the_last_words_of_the_other_process
    @child.say(:ready)
    @child.close
    assert_equal [[:ready], [:closed], [:closed]], Array.new(3) { @parent.hear }
  end

  def test_a_word_to_a_process_that_is_gone_is_no_error
    @child.close
    @parent.say(:drain)
    @parent.close
    @parent.say(:drain)
    assert_empty @parent.unsent
  end

  def test_a_forked_process_keeps_no_channel_but_its_own
    assert_empty [@parent, @child] - Bontebok::Channel.all
    kept = [nil, @child].map do |own|
      pid = fork do
        Bontebok::Channel.disown(except: own)
        exit!([@parent, @child].count { |channel| !channel.to_io.closed? })
      end
      Process.wait2(pid).last.exitstatus
    end
    assert_equal [0, 1], kept
    [@parent, @child].each(&:close)
    assert_equal [@parent, @child], [@parent, @child] - Bontebok::Channel.all
  end

  def test_an_executed_command_does_not_inherit_a_channel
    assert_predicate @parent.to_io, :close_on_exec?
    assert_predicate @child.to_io, :close_on_exec?
  end

  private

  # The block is called after each read of an end. Returns all words.
  def hear_all
    words = []
    loop do
      heard = @child.hear + @parent.hear
      yield
      return words if heard.empty?

      words.concat(heard)
    end
  end
end
