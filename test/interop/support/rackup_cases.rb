# frozen_string_literal: true

require "socket"
require_relative "ends"

module Interop
  # Tests of `rackup -s bontebok`. A test case that includes this module defines two methods. `gemfile` returns the path
  # of a Gemfile. `release` returns the major release of Rack in this Gemfile.
  module RackupCases
    include Ends

    APP = "run ->(_) { [200, { 'content-type' => 'text/plain' }, [Process.pid.to_s]] }\n"

    LISTEN = %w[-o 127.0.0.1 -p 0].freeze

    def test_the_server_gets_the_options_of_the_command_line
      server = rackup("-E", "deployment", "-O", "MaxWorkers=2", "-O", "Server=antelope", rackup: <<~RUBY)
        run ->(_) { [200, { "content-type" => "text/plain" }, [Rack.release, " ", ENV["RACK_ENV"]]] }
      RUBY
      response = server.get
      assert_match(/\A#{release}\.[\d.]+ deployment\z/, response.body)
      assert_equal "antelope", response["Server"]
      assert_match(/, deployment: 2 workers of 1 thread$/, server.output.text)
    end

    def test_a_unix_socket_is_served_by_five_workers
      server = rackup("-O", "Path=#{temp_dir}/app.sock", listen: nil)
      assert_equal "unix:#{temp_dir}/app.sock", server.address.to_s
      assert_equal 200, server.get.status
      assert_match(/: 5 workers of 1 thread$/, server.output.text)
      assert_equal 0, server.stop.exitstatus
      refute_path_exists "#{temp_dir}/app.sock"
    end

    # If Ctrl-C is typed, the terminal sends INT to every process of the group.
    def test_int_ends_the_server_without_a_backtrace
      server = rackup
      server.wait_for_output(/ ready in \d+ ms$/)
      Process.kill("INT", -server.pid)
      assert_ended server
    end

    def test_term_lets_requests_finish
      server = rackup("-O", "MaxWorkers=1", rackup: <<~RUBY)
        run ->(_) { $stderr.puts("in flight"); [200, { "content-type" => "text/plain" }, [File.read("gate")]] }
      RUBY
      assert_term_lets_a_request_finish server, "/"
    end

    # rackup loads the application before it calls Bontebok's handler.
    def test_a_port_in_use_is_an_error
      taken = TCPServer.new("127.0.0.1", 0)
      port = taken.local_address.ip_port
      assert_fails 1, "cannot listen on 127.0.0.1:#{port}: Address already in use", "-o", "127.0.0.1", "-p", port.to_s,
                   rackup: "File.write('loaded', '')\n#{APP}"
      assert_path_exists File.join(temp_dir, "loaded")
    ensure
      taken.close
    end

    def test_an_unknown_option_and_preload_are_errors
      assert_fails 2, "rackup -O: unknown option MaxWorker. Did you mean MaxWorkers?", "-O", "MaxWorker=2"
      assert_fails 2, "rackup -O: Preload: the application is loaded already", "-O", "Preload=false"
    end

    # A worker is replaced after each request. Exit handlers run only in the process that the test has started.
    def test_exit_handlers_and_the_pid_file_belong_to_the_started_process
      pid_file = File.join(temp_dir, "rackup.pid")
      server = rackup("-P", pid_file, "-O", "MaxWorkers=1", "-O", "MaxRequestPerChild=1",
                      rackup: "at_exit { $stderr.puts \"handler of \#{Process.pid}\" }\n#{APP}")
      first = server.get.body
      eventually { server.get.body != first }
      server.wait_for_output(/has left: exit status 0$/)
      assert_equal server.pid.to_s, File.read(pid_file)
      assert_equal 0, server.stop.exitstatus
      refute_path_exists pid_file
      assert_equal [server.pid.to_s], server.output.text.scan(/handler of (\d+)/).flatten
    end

    def test_a_killed_master_is_replaced_with_the_same_application
      server = rackup("-O", "MaxWorkers=1", rackup: <<~RUBY)
        loaded_by = Process.pid.to_s
        run ->(_) { [200, { "content-type" => "text/plain" }, [loaded_by]] }
      RUBY
      server.wait_for_output(/ ready in \d+ ms$/)
      master = Support::ProcessTable.children(server.pid).first.pid
      Process.kill("KILL", master)
      server.wait_for_output(/master \(pid #{master}\) ended: killed by SIGKILL, /)
      assert_equal server.pid.to_s, server.get.body
    end

    # The name of the variable depends on the registry.
    def test_a_variable_names_the_server
      temp_file("config.ru", APP)
      variable = { "2" => "RACK_HANDLER", "3" => "RACKUP_HANDLER" }.fetch(release)
      env = environment.merge(variable => "bontebok")
      server = Support::ServerProcess.new("bundle", "exec", "rackup", *LISTEN, env: env, chdir: temp_dir)
      children << server
      assert_equal 200, server.wait_until_ready.get.status
    end

    def test_help_lists_the_options
      help = Support::ChildProcess.run(*command, "-h", env: environment, chdir: temp_dir)
      assert_match(/^  -O MaxWorkers=N\|auto +Worker processes\. Default: 5\.$/, help.output.text(:stdout))
    end

    private

    def command
      %w[bundle exec rackup -s bontebok]
    end

    def environment
      { "BUNDLE_GEMFILE" => File.join(ROOT, gemfile), "RUBYOPT" => nil, "RUBYLIB" => nil }
    end

    def rackup(*args, rackup: APP, listen: LISTEN, ready: true)
      temp_file("config.ru", rackup)
      server = Support::ServerProcess.new(*command, *listen, *args, env: environment, chdir: temp_dir)
      children << server
      server.wait_until_ready if ready
      server
    end

    def assert_fails(status, message, *args, **options)
      server = rackup(*args, listen: nil, ready: false, **options)
      assert_equal status, server.wait.exitstatus
      server.output.wait_for_end
      assert_includes server.output.text, "bontebok: #{message}"
      refute_match BACKTRACE, server.output.text
    end

    def assert_ended(server)
      super
      assert_match(/ stopped$/, server.output.text)
    end
  end
end
