# frozen_string_literal: true

require "test_helper"
require_relative "../../support/config_style_case"

# Tests of puma's hooks.
class ConfigStylesPumaHooksTest < Support::TestCase
  include ConfigStyleCase

  STYLE = Bontebok::ConfigStyles.of("puma")
  Worker = Bontebok::Hooks::Worker

  # Most hooks have a new name and an old name. A worker's index counts from 0.
  def test_hooks_of_puma_are_known
    { before_fork: [0, %i[before_worker_fork on_worker_fork]],
      after_worker_fork: [0, %i[after_worker_fork after_worker_boot]],
      after_fork: [0, %i[before_worker_boot on_worker_boot]],
      before_worker_exit: [0, %i[before_worker_shutdown on_worker_shutdown]],
      before_thread_start: [nil, %i[before_thread_start on_thread_start]],
      before_thread_exit: [nil, %i[before_thread_exit on_thread_exit]],
      on_booted: [nil, %i[after_booted on_booted]], after_stopped: [nil, %i[after_stopped on_stopped]],
      out_of_band: [nil, %i[out_of_band]] }
      .each do |name, (told, directives)|
        directives.each do |directive|
          hooks = read("#{directive} { |index, key = 0| [index] }").hooks
          assert_equal [told], hooks.run(name, Worker.new(1, 9)), directive
        end
      end
  end

  def test_hooks_with_the_same_key_share_data
    hooks = read(<<~RUBY).hooks
      before_worker_boot(:key) { |index, data| data[index] = :begun }
      before_worker_boot(:other) { |index, data| data[index] = :other }
      on_worker_shutdown("key") { |index, data| data[index] }
      before_worker_boot(5) { |index, data| data[index] = :any }
    RUBY
    hooks.run(:after_fork, Worker.new(1, 9))
    assert_equal :begun, hooks.run(:before_worker_exit, Worker.new(1, 9))
  end

  def test_after_worker_shutdown_gets_a_handle_of_the_worker
    hooks = read("after_worker_shutdown { |worker| [worker.index, worker.pid, worker.process_status] }").hooks
    assert_equal [0, 9, :status], hooks.run(:after_worker_exit, Worker.new(1, 9), :status)
  end

  # puma has no such hook.
  def test_a_worker_that_drains_runs_our_hook
    assert_equal 1,
                 read("before_worker_drain { |worker| worker.number }").hooks.run(:before_worker_drain, Worker.new(1))
  end

  def test_before_fork_runs_once
    hooks = read("count = 0\nbefore_fork { server count += 1 }\ndef server(count) = $stdout.puts(count)\n").hooks
    assert_output("1\n") { 2.times { hooks.run(:before_fork, Worker.new(1)) } }
  end

  def test_lowlevel_error_handler_gets_errors
    { "|error, env, status| [status, env, [error]]" => [500, :env, [:error]], "|error| error" => :error }
      .each do |block, result|
        assert_equal result, read("lowlevel_error_handler { #{block} }").hooks.run(:on_error, :error, :env)
      end
    hooks = read("lowlevel_error_handler(->(error) { error })").hooks
    assert_equal :error, hooks.run(:on_error, :error, :env)
    hooks = read("lowlevel_error_handler { |_error, _env, status| status }").hooks
    assert_equal 504, hooks.run(:on_error, Bontebok::RequestTimeout.new, :env)
    assert_fault ":1: lowlevel_error_handler wants a block", "lowlevel_error_handler"
  end

  def test_an_error_in_a_hook_names_the_hook_as_the_file_does
    hooks = read("on_worker_boot { raise 'sorry' }").hooks
    error = assert_raises(Bontebok::Hooks::Failed) { hooks.run(:after_fork, Worker.new(1, 2)) }
    assert_equal "the hook on_worker_boot failed", error.message
  end

  # The message is Ruby's, without the class of the style.
  def test_an_unknown_word_in_a_hook_is_a_name_error
    { "workres" => [NameError, "undefined local variable or method 'workres'"],
      "workres 3" => [NoMethodError, "undefined method 'workres'"] }.each do |word, (error, message)|
      hooks = read("\non_booted { #{word} }").hooks
      cause = assert_raises(Bontebok::Hooks::Failed) { hooks.run(:on_booted) }.cause
      assert_equal [error, message], [cause.class, cause.message]
      assert_match(/\A#{@path}:2:/, cause.backtrace.first)
    end
  end
end
