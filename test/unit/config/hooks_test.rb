# frozen_string_literal: true

require "test_helper"
require "bontebok/config/hooks"

# Tests of hooks: their order, their arguments, and hooks that raise.
class HooksTest < Minitest::Test
  def setup
    @hooks = Bontebok::Hooks.new
    @seen = []
  end

  def test_hooks_run_in_order_and_the_last_result_is_returned
    @hooks.add(:before_fork, proc { @seen << 1 })
    @hooks.add(:before_fork, proc { @seen.push(2) && :last })
    assert_equal [:last, [1, 2]], [@hooks.run(:before_fork, :worker), @seen]
    assert_equal [true, false], [@hooks.any?(:before_fork), @hooks.any?(:after_fork)]
  end

  def test_a_run_without_hooks_returns_nil
    assert_nil @hooks.run(:on_booted)
    assert_nil @hooks.attempt(:on_booted, log: nil)
  end

  def test_each_hook_gets_as_many_arguments_as_it_accepts
    { proc { |*all| all } => %i[error env], proc { |error| error } => :error, proc { 0 } => 0,
      ->(error) { error } => :error, -> { 0 } => 0, ->(*all) { all } => %i[error env],
      ->(error = nil) { error } => :error, ->(error, env = nil, *) { [error, env] } => %i[error env],
      ->(error, status: 500) { [error, status] } => [:error, 500],
      Object.new.tap { |object| def object.call(error) = error } => :error,
      [].method(:push) => %i[error env], :to_s.to_proc => "error" }.each do |hook, result|
      hooks = Bontebok::Hooks.new
      hooks.add(:on_error, hook)
      assert_equal result, hooks.run(:on_error, :error, :env)
    end
  end

  def test_a_block_may_convert_the_arguments
    hook = ->(index, status) { @seen = [index, status] }
    @hooks.add(:after_worker_exit, hook) { |worker, status| [worker - 1, status] }
    @hooks.run(:after_worker_exit, 1, :status)
    assert_equal [0, :status], @seen
  end

  def test_remove_removes_the_hooks_of_a_directive
    @hooks.add(:after_fork, proc { @seen << 1 })
    @hooks.add(:after_fork, proc { @seen << 2 }, directive: :on_worker_boot)
    assert_equal %i[after_fork on_worker_boot], @hooks.directives
    @hooks.remove(:after_fork, :after_fork)
    @hooks.run(:after_fork)
    assert_equal [2], @seen
  end

  def test_a_hook_that_raises_ends_the_run
    @hooks.add(:after_fork, proc { raise IOError, "no database" })
    @hooks.add(:after_fork, proc { @seen << 2 })
    error = assert_raises(Bontebok::Hooks::Failed) { @hooks.run(:after_fork, 1) }
    assert_equal ["the hook after_fork failed", "no database", []],
                 [error.message, error.cause.message, @seen]
  end

  def test_an_exit_is_a_failure_and_a_signal_is_not
    @hooks.add(:after_fork, proc { exit })
    assert_instance_of SystemExit, assert_raises(Bontebok::Hooks::Failed) { @hooks.run(:after_fork) }.cause
    @hooks.add(:on_booted, proc { raise Interrupt })
    assert_raises(Interrupt) { @hooks.run(:on_booted) }
  end

  def test_an_attempt_logs_an_exception_and_runs_the_next_hook
    @hooks.add(:after_worker_exit, proc { raise IOError, "gone" })
    @hooks.add(:after_worker_exit, proc { |*all| @seen = all })
    entries = []
    log = Object.new
    log.define_singleton_method(:error) { |message, exception| entries << [message[/hook \w+/], exception.message] }
    assert_equal %i[worker status], @hooks.attempt(:after_worker_exit, :worker, :status, log: log)
    assert_equal [["hook after_worker_exit", "gone"]], entries
  end

  def test_an_unknown_hook_is_an_error
    assert_raises(KeyError) { @hooks.add(:befork_fore, proc {}) }
  end
end
