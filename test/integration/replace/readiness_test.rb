# frozen_string_literal: true

require "test_helper"
require_relative "../support/process_tree"
require_relative "../support/releases"

# Before a new worker serves, it requests the first of health_paths and the warm_up paths from itself. In a deploy, the
# new generation must answer.
class ReadinessTest < Support::TestCase
  include ProcessTree
  include Releases

  # Responds with the status in the file "status" (default 200), and with the request that it got.
  APP = <<~'RUBY'
    run(lambda do |env|
      status = File.exist?("status") ? File.read("status").to_i : 200
      $stderr.puts "asked: #{env.values_at("PATH_INFO", "HTTP_HOST", "HTTP_X_FORWARDED_PROTO").compact.join(" ")}"
      raise "bad health" if status == 500
      [status, { "content-type" => "text/plain" }, ["release #{File.basename(Dir.pwd)}, body"]]
    end)
  RUBY

  def test_a_worker_asks_itself_before_it_serves
    release(1, "config.ru" => APP)
    server = start("--warm-up", "/one /two", "--health-headers", "host: app.example",
                   "--health-headers", "X-Forwarded-Proto: https")
    server.wait_for_output(%r{asked: /one app.example https\nasked: /two .*\nasked: /up app.*https\n.*w1 g1 ready}m)
    refute_match(%r{asked: /two.*asked: /two}m, server.output.text)
    server.stop
    start.wait_for_output(%r{asked: /up localhost$})
  end

  def test_a_generation_that_does_not_answer_fails_the_deploy
    release(1, "config.ru" => APP)
    server = start
    former = workers(server)
    { "500" => /500.*bad health \(RuntimeError\)/m, "302" => %r{/up responds\n  HTTP/1.1 302 Found\n},
      "404" => /HTTP.1.1 404/ }
      .each_with_index do |(status, message), index|
        release(index + 2, "config.ru" => APP, "status" => status)
        command = Support::ChildProcess.run(RbConfig.ruby, Support::BontebokProcess::EXECUTABLE, "deploy", "--wait",
                                            "--control", "#{temp_dir}/control")
        assert_match message, command.output.text
        assert_equal 1, command.status.exitstatus
      end
    assert_equal former, workers(server)
    assert_match(/release 1/, server.get.body)
  end

  # Without a former generation, or after a deploy, a worker that does not answer is better than none.
  def test_a_worker_that_nobody_replaces_serves_anyway
    release(1, "config.ru" => APP, "status" => "503")
    server = start
    server.wait_for_output(/warn .*the worker is not ready: .*w1 g1 ready/m)
    assert_equal 503, server.get.status
    former = workers(server)
    server.signal("HUP")
    wait_for_workers(server, 1, without: former)
  end

  def test_a_health_request_that_hangs_ends_with_the_deploy
    release(1, "config.ru" => APP)
    server = start("--worker-boot-timeout", "3s")
    release(2, "config.ru" => "run ->(_) { sleep }")
    server.signal("USR2")
    # Two processes have this limit: the supervisor for the deploy, and the master for the worker, which begins later.
    server.wait_for_output(/did not (?:get all .* ready|become ready) within 3\.0 s.*master \(pid \d+\) has left/m)
    assert_match(/release 1/, server.get.body)
  end

  private

  def start(*args)
    start_current("-w", "1", "--health-paths", "/up", "--control", "#{temp_dir}/control", *args)
  end
end
