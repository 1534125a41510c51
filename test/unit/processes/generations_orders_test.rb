# frozen_string_literal: true

require "test_helper"
require_relative "../support/generations/generations_case"

# Tests how Generations starts, tells and ends masters, and what it answers about them.
class GenerationsOrdersTest < Support::TestCase
  include GenerationsCase

  def test_a_master_waits_until_the_listeners_listen
    tick
    hear(1, :loaded)
    assert_empty one(1).process.words
    @generations.go
    assert_equal [:go], one(1).process.words
    hear(1, :ready)
    @generations.go
    assert_equal [:go], one(1).process.words
  end

  def test_a_start_that_the_system_rejects_is_tried_again_after_a_pause
    @server.fault = Errno::EAGAIN.new
    tick
    assert_log "error master 1 cannot be started: the system refuses another process (RLIMIT_NPROC, pids.max): " \
               "Resource temporarily unavailable (EAGAIN)"
    assert_equal [true, now + PAUSE], [@generations.settled?(:ready), @generations.deadline]
    @server.fault = nil
    wait(PAUSE - 1)
    assert_empty @server.started
    wait(1)
    assert_states :started
    refute @generations.settled?(:ready)
  end

  def test_a_start_that_fails_is_tried_again_after_longer_and_longer_pauses
    @server.fault = Errno::ENOMEM.new
    tick
    assert_log "error master 1 cannot be started Cannot allocate memory"
    assert_equal now + PAUSE, @generations.deadline
    wait(PAUSE)
    assert_equal now + (2 * PAUSE), @generations.deadline
    assert @generations.settled?(:whole)
  end

  # A pause follows if two in a row have ended soon after they were ready.
  def test_masters_that_end_or_are_lost_soon
    @generations.go
    tick
    [1, 2].each do |number|
      serve(number)
      number == 1 ? die(number) : desert(number)
      tick
    end
    assert_log "warn master (pid 101) ended: killed by SIGKILL, 0 s after it was ready"
    assert_states :ended, :lost
    wait(PAUSE)
    serve(3)
    wait(PAUSE)
    deploy # the third one was ready for long enough
    serve(4)
    die(4)
    tick
    assert_equal 5, @server.started.size
  end

  # The user may have repaired the fault.
  def test_a_deploy_ends_the_pause
    tick
    die(1)
    assert_log "warn master (pid 101) ended before it was ready: killed by SIGKILL"
    tick
    assert_states :ended
    deploy
    assert_states :ended, :started
  end

  def test_all_words_of_a_master_that_has_ended_are_read
    @server.rollouts = [rollout = GenerationsCase::Rollout.new]
    begin_deploy
    one(2).process.says(*%i[crashed] * (Bontebok::Channel::MOST + 1))
    die(2)
    assert_equal Bontebok::Channel::MOST + 1, rollout.crashes
    assert_predicate one(2).process, :hung_up?
  end

  def test_a_master_that_does_not_end_in_time_is_killed
    begin_deploy
    serve(2)
    wait(GRACE + Bontebok::Generations::MASTER_SECONDS)
    assert_log "error master (pid 101) did not end within 45 s: killed"
    assert_states :ended, :serving
  end

  def test_a_master_that_only_waits_for_hijacked_connections_gets_their_time
    begin_deploy
    hear(2, :waits) # it was not told to end
    assert_equal now + LIMIT, @generations.deadline
    serve(2)
    hear(1, :waits)
    assert_equal HIJACK + Bontebok::ForkedProcess::KILL_SECONDS + Bontebok::Generations::MASTER_SECONDS, one(1).limit
  end

  def test_each_way_to_stop_has_a_time
    begin_deploy
    { drain: 45, quit: 7, kill_children: 1 }.each do |how, seconds|
      @generations.stop(how)
      assert_equal [seconds, now + seconds], [one(1).limit, @generations.deadline]
    end
    assert_equal %i[go serving drain quit kill], one(1).process.words
  end

  def test_other_times_count_for_the_next_deadline
    @generations.configure(Config.new(5))
    begin_deploy
    wait(5)
    assert_states :serving, :failed
  end

  # A kept master is not heard, so a word that waits reaches it only here.
  def test_words_that_wait_are_sent
    channel, other = Bontebok::Channel.pair
    channel.say(:reopen) until Bontebok::Channel.full?
    nil until other.hear.empty?
    tick
    assert_equal [:reopen], other.hear
  ensure
    [channel, other].each(&:close)
  end

  # The supervisor reaps all children as process 1.
  def test_other_code_reaps_a_master
    begin_deploy
    status = Struct.new(:exitstatus, :success?, :signaled?).new(0, true, false)
    @generations.ended(1, status)
    @generations.ended(102, status)
    tick
    assert_states :serving, :ended
    assert_log "warn master (pid 102) ended before it was ready: exit status 0: the application has ended it"
  end

  def test_the_number_of_workers_changes
    begin_deploy
    one(2).start = Struct.new(:answered?).new(false)
    %i[more more fewer].each { |word| @generations.change_workers(word) }
    assert_equal WORKERS + 1, @generations.workers
    assert_equal %i[go serving more more fewer], one(1).process.words
    hear(2, :loaded) # it gets the number when it asks
    assert_equal %i[go], one(2).process.words
  end

  def test_the_steps_that_a_generation_has_reached
    steps = %i[loaded ready whole]
    @generations.go
    tick
    assert_equal([[], []], [steps.select { |step| @generations.any?(step) }, @server.served])
    steps.each_with_index do |step, index|
      hear(1, step)
      assert_equal(steps.first(index + 1), steps.select { |each| @generations.any?(each) })
      assert @generations.settled?(step)
    end
    assert_predicate @generations, :whole?
    @generations.stop(:drain)
    refute_predicate @generations, :whole?
  end

  def test_a_master_answers_if_it_serves_and_hears
    @generations.go
    tick
    hear(1, :loaded)
    refute_predicate @generations, :answering?
    hear(1, :ready)
    assert_predicate @generations, :answering?
    Bontebok::ProcessState.stub(:stop, "a stop") { refute_predicate @generations, :answering? }
    hear(1, :closed)
    refute_predicate @generations, :answering?
  end

  def test_the_loop_waits_for_the_channels_that_are_open
    begin_deploy
    assert_equal([one(1), one(2)].map { |each| each.process.channel }, @generations.sources)
    hear(2, :closed)
    assert_equal [one(1).process.channel], @generations.sources
    assert_equal now + Bontebok::ForkedProcess::MOMENT, @generations.deadline
  end

  def test_deploys_under_way
    begin_deploy
    assert_equal [one(2)], @generations.under_way
    wait(LIMIT)
    assert_empty @generations.under_way
  end
end
