# frozen_string_literal: true

require "test_helper"
require_relative "../../support/config_style_case"

# Tests of pitchfork's directives that are not unicorn's.
class ConfigStylesPitchforkTest < Support::TestCase
  include ConfigStyleCase

  STYLE = Bontebok::ConfigStyles.of("pitchfork")
  Worker = Bontebok::Hooks::Worker

  def test_options_of_pitchfork_are_known
    assert_equal({ max_workers: 4, request_timeout_soft: 10, request_timeout: 13, worker_boot_timeout: 60 },
                 values("worker_processes 4\ntimeout 10, cleanup: 3\nspawn_timeout 20\n"))
    assert_equal({ request_timeout_soft: 10, request_timeout: 12 }, values("timeout 10"))
    assert_equal({ request_timeout_soft: 10, request_timeout: 13 }, values("timeout '10', cleanup: '3'"))
    assert_fault ":1: invalid value for Integer(): \"x\" (ArgumentError)", "timeout 'x'"
    assert_empty read("listen 8080, queues: 2, queues_per_worker: 1").warnings
  end

  def test_hooks_get_the_server_and_the_worker
    hooks = read(<<~RUBY).hooks
      after_worker_fork { |server, worker| [server.worker_processes, worker.nr] }
      after_worker_ready { |server, worker| worker.pid }
      before_worker_exit { |server, worker| [worker.nr, worker.to_log] }
      after_worker_exit { |server, worker, status| [worker.nr, status] }
      after_monitor_ready { |server| server.class.name }
    RUBY
    assert_equal [nil, 0], hooks.run(:after_fork, Worker.new(1, 9))
    assert_equal 9, hooks.run(:after_worker_ready, Worker.new(2, 9))
    assert_equal [1, "worker=1 gen=0 pid=9"], hooks.run(:before_worker_exit, Worker.new(2, 9))
    assert_equal [2, :status], hooks.run(:after_worker_exit, Worker.new(3, 9), :status)
    assert_match(/HttpServer/, hooks.run(:on_booted))
  end

  def test_a_worker_has_its_number_of_requests
    text = %w[after_worker_fork after_worker_ready before_worker_exit].map do |name|
      "#{name} { |_, worker| worker.requests_count }\n"
    end
    hooks = read(text.join).hooks
    assert_equal 7, hooks.run(:before_worker_exit, Worker.new(1, 9, 7))
    %i[after_fork after_worker_ready].each { |name| assert_equal 0, hooks.run(name, Worker.new(1, 9)) }
    hooks = read("after_mold_fork { |_, mold| puts mold.requests_count }").hooks
    assert_output("0\n") { hooks.run(:before_fork, Worker.new(1)) }
  end

  def test_the_constant_pitchfork_stands_for_the_server
    assert_empty values("Gem::Version.new(Pitchfork::VERSION)\nPitchfork::HttpServer\n" \
                        "Pitchfork::Configurator::DEFAULTS[:logger].level = 1\n")
    assert_fault ":1: uninitialized constant Pitchfork::Info (NameError)", "Pitchfork::Info"
  end

  def test_after_mold_fork_runs_once_and_before_before_fork
    text = "before_fork { |server| $stdout.puts :fork }\nafter_mold_fork { |_, mold| puts mold.to_log }"
    hooks = read(text).hooks
    log = "mold gen=0 pid=#{Process.pid}\nfork\nfork\n"
    assert_output(log) { 2.times { |number| hooks.run(:before_fork, Worker.new(number + 1)) } }
  end

  def test_the_advice_for_a_directive_is_a_warning
    assert_advised "refork_after", "refork_after [50, 100, 1000]", "max_request_per_child replaces workers"
    assert_advised "after_request_complete", "after_request_complete { |server, worker, env| exit }",
                   "env[\"rack.response_finished\"] runs code after a response"
  end
end
