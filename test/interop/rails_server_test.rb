# frozen_string_literal: true

require "fileutils"
require "socket"
require "test_helper"
require_relative "support/ends"
require_relative "support/rails_app"
require_relative "support/rails8/rails_templates"

# Runs `rails server -u bontebok`. Each test has its own copy of the generated application, with its own pid file.
class RailsServerTest < Support::TestCase
  include Interop::Ends

  def setup
    FileUtils.cp_r(File.join(Interop::RailsApp.prepare, "."), temp_dir)
    temp_file("config/routes.rb", <<~RUBY)
      Rails.application.routes.draw do
        get "plain" => "plain#show"
        get "up" => "rails/health#show"
      end
    RUBY
    write_controller('render plain: "#{Process.pid} #{Rails.env}"') # rubocop:disable Lint/InterpolationCheck
  end

  def test_development_runs_one_process
    server = rails_server
    assert_equal "#{server.pid} development", get(server).body
    assert_match(/^=> Booting Bontebok$/, server.output.text)
    assert_match(/, development: one process, 3 threads$/, server.output.text)
    assert_equal [server.pid], server.group.map(&:pid)
    assert_equal server.pid.to_s, File.read(pid_file)
  end

  # The Gemfile has no other server. foreman sets PORT, and runs the line as it is generated in a shell.
  def test_the_line_of_procfile_dev_finds_the_server
    write_controller("render plain: ENV.values_at('RACKUP_HANDLER', 'RACK_HANDLER').inspect")
    lines = %w[jsbundling-rails tailwindcss-rails].map do |gem|
      Interop::RailsTemplates.read("Procfile.dev", gem: gem)[/^web: (.*)$/, 1]
    end
    assert_equal ["env RUBY_DEBUG_OPEN=true bin/rails server", "bin/rails server"], lines
    server = start_server("sh", "-c", "exec #{lines.first}", env: { "PORT" => "0" })
    server.wait_until_ready
    assert_equal "[nil, nil]", get(server).body
    assert_match(/^=> Booting Bontebok$/, server.output.text)
  end

  def test_development_sees_changed_files
    server = rails_server
    assert_match(/ development\z/, get(server).body)
    write_controller('render plain: "changed"')
    assert_equal "changed", get(server).body
  end

  # `rails restart` touches this file. The initializer shows which sockets its commands get from the former program.
  def test_restart_loads_initializers_again
    other = File.join(temp_dir, "tmp/pids/an other.pid")
    server = rails_server("-P", other)
    temp_file("config/initializers/given.rb", "GIVEN = `ls -l /proc/self/fd; env`.scan(/socket:|BONTEBOK_LIS/)\n")
    write_controller("render plain: defined?(GIVEN) ? GIVEN.inspect : 'not yet'")
    assert_equal "not yet", get(server).body
    File.write(File.join(temp_dir, "tmp/restart.txt"), "")
    server.wait_for_output(%r{tmp/restart.txt has changed: the process is executed again.* ready in \d+ ms$}m)
    assert_equal "[]", get(server).body
    assert_equal server.pid.to_s, File.read(other)
    server.signal("TERM")
    assert_ended server
    refute_path_exists other
  end

  def test_production_has_workers
    server = rails_server("-e", "production", env: { "SOLID_QUEUE_IN_PUMA" => "true" })
    server.wait_for_output(/ error .* no jobs run: the application has not loaded solid_queue/)
    pid, environment = get(server).body.split
    assert_equal "production", environment
    refute_equal server.pid.to_s, pid
    assert_match(/, production: (?:1 to \d+ workers|1 worker) of 3 threads \(default for Rails\)$/, server.output.text)
    refute_path_exists pid_file
    server.signal("USR2")
    server.wait_for_output(/SIGUSR2: .*has loaded the application: restart the server$/)
    server.signal("TERM")
    assert_ended server
  end

  # If Ctrl-C is typed, the terminal sends INT to every process of the group.
  def test_int_ends_the_server_without_a_backtrace
    %w[development production].each do |environment|
      server = rails_server("-e", environment)
      server.wait_for_output(/ ready in \d+ ms$/)
      Process.kill("INT", -server.pid)
      assert_ended server
      assert_match(/^Exiting$/, server.output.text)
      refute_path_exists pid_file
    end
  end

  def test_term_lets_requests_finish
    write_controller('$stderr.puts("in flight"); render plain: File.read("gate")')
    assert_term_lets_a_request_finish rails_server, "/plain", { "Host" => "localhost" }
  end

  def test_a_port_in_use_is_an_error
    taken = TCPServer.new("127.0.0.1", 0)
    port = taken.local_address.ip_port
    server = rails_server("-p", port, ready: false)
    assert_equal 1, server.wait.exitstatus
    server.output.wait_for_end
    assert_includes server.output.text, "bontebok: cannot listen on 127.0.0.1:#{port}: Address already in use"
    refute_match BACKTRACE, server.output.text
    refute_path_exists pid_file
  ensure
    taken.close
  end

  # The test cannot read the daemon's log. It finds the daemon by its port and its pid file.
  def test_the_server_runs_as_a_daemon
    port = held_port
    started = rails_server("-d", "-p", port, ready: false)
    assert_equal 0, started.wait.exitstatus
    eventually { answers?("127.0.0.1:#{port}") }
    daemon = Integer(File.read(pid_file))
    Process.kill("TERM", daemon)
    eventually { !File.exist?(pid_file) && !Support::ProcessTable.entry(daemon) }
  ensure
    kill_daemon
  end

  private

  def rails_server(*args, ready: true, env: {})
    command = [RbConfig.ruby, "bin/rails", "server", "-u", "bontebok", "-b", "127.0.0.1", "-p", "0", *args.map(&:to_s)]
    server = start_server(*command, env: env)
    server.wait_until_ready if ready
    server
  end

  def start_server(*command, env: {})
    server = Support::ServerProcess.new(*command, env: Interop::RailsApp.environment.merge(env), chdir: temp_dir)
    children << server
    server
  end

  def pid_file
    File.join(temp_dir, "tmp/pids/server.pid")
  end

  def write_controller(action)
    temp_file("app/controllers/plain_controller.rb", <<~RUBY)
      class PlainController < ApplicationController
        def show
          #{action}
        end
      end
    RUBY
  end

  # In production the generated application requires TLS.
  def get(server)
    server.get("/plain", { "Host" => "localhost", "X-Forwarded-Proto" => "https" })
  end

  def answers?(address)
    Support::Client.open(address) do |client|
      client.get("/up", { "Host" => "localhost" }).status == 200
    end
  rescue Errno::ECONNREFUSED
    false
  end

  def kill_daemon
    Process.kill("KILL", Integer(File.read(pid_file))) if File.exist?(pid_file)
  rescue Errno::ESRCH
    nil
  end
end
