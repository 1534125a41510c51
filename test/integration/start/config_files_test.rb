# frozen_string_literal: true

require "test_helper"
require_relative "../support/process_tree"

# Configuration files of a real server: the file that is found without an option, files for other servers, and options
# about the process.
class ConfigFilesTest < Support::TestCase
  include ProcessTree

  APP = "run ->(_) { [200, {}, [ENV.fetch('RACK_ENV'), ' ', Dir.pwd]] }\n"

  def test_a_configuration_file_is_found_without_an_option
    temp_file("config/bontebok.rb", "max_workers 2\nenvironment 'staging'\n")
    server = start_bontebok(rackup: APP)
    server.wait_for_output(/ ready in \d+ ms$/)
    assert_equal [2, "staging"], [workers(server).size, server.get.body.split.first]
    assert_match(%r{^config_file +config/bontebok\.rb +found$}, checked)
  end

  def test_environment_variables_of_platforms_are_obeyed
    server = start_bontebok(rackup: APP, listen: nil, env: { "PORT" => "0", "WEB_CONCURRENCY" => "2",
                                                             "RAILS_MAX_THREADS" => "3" })
    assert_match(/2 workers of 3 threads$/, server.output.text)
    assert_match(/\A127\.0\.0\.1:\d+\z/, server.address.to_s)
  end

  def test_a_file_for_unicorn_is_obeyed
    rackup_file("current/config.ru", APP)
    path = temp_file("unicorn.rb", <<~RUBY)
      worker_processes 2
      working_directory "#{temp_dir}/current"
      listen "#{temp_dir}/bontebok.sock", backlog: 64
      pid "#{temp_dir}/unicorn.pid"
      stderr_path "#{temp_dir}/err.log"
      stdout_path "#{temp_dir}/out.log"
      after_fork { |server, worker| $stdout.puts "worker \#{worker.nr} of \#{server.worker_processes}" }
    RUBY
    server = start_bontebok(ready: false, listen: nil, args: ["-c", path], directory: temp_dir)
    eventually { File.exist?("#{temp_dir}/err.log") && File.read("#{temp_dir}/err.log").include?(" ready") }
    assert_equal server.pid, File.read("#{temp_dir}/unicorn.pid").to_i
    assert_equal ["worker 0 of 2\n", "worker 1 of 2\n"], File.readlines("#{temp_dir}/out.log").sort
    assert_includes get("unix:#{temp_dir}/bontebok.sock").body, File.realpath("#{temp_dir}/current")
    assert_equal [0, ""], [server.stop.exitstatus, server.output.text]
    refute_path_exists "#{temp_dir}/unicorn.pid"
  end

  def test_a_file_for_puma_is_obeyed
    path = temp_file("puma.rb", <<~RUBY)
      bind "unix://#{temp_dir}/bontebok.sock"
      workers 2
      threads 1, 3
      environment "staging"
      log_requests
      on_worker_boot { |index| $stderr.puts "boot \#{index}" }
      lowlevel_error_handler { |error| [503, { "content-type" => "text/html" }, ["sorry"]] }
    RUBY
    server = start_bontebok(listen: nil, args: ["-c", path], rackup: "run ->(_) { raise }\n")
    server.wait_for_output(/ ready in \d+ ms$/)
    assert_equal %w[0 1], server.output.text.scan(/^boot (\d)/).flatten.sort
    assert_match(/staging: 2 workers of 3 threads$/, server.output.text)
    response = server.get
    assert_equal [503, "text/html", "sorry"], [response.status, response["Content-Type"], response.body]
    server.wait_for_output(%r{^127\.0\.0\.1 - - .* "GET / HTTP/1\.1" 503 5$})
  end

  def test_the_advice_for_a_directive_is_in_the_log
    path = temp_file("unicorn.rb", "worker_processes 1\nworker_exec true\n")
    server = start_bontebok(rackup: APP, args: ["-c", path])
    assert_match(/ warn \d+ \S+ \S+ #{path}:2: worker_exec has no effect: workers are forked, /, server.output.text)
  end

  def test_unknown_directives_are_rejected
    path = temp_file("unicorn.rb", "worker_processes 1\nworker_proceses 1\n")
    server = start_bontebok(ready: false, rackup: APP, args: ["-c", path])
    assert_equal 2, server.wait.exitstatus
    server.output.wait_for_end
    assert_match(/\Abontebok: #{path}:2: unknown option worker_proceses/, server.output.text)
  end

  def test_a_second_server_with_the_same_pidfile_is_rejected
    first = start_bontebok(rackup: "File.write(\"loaded-\#{Process.pid}\", '')\n#{APP}", args: %w[-w 0 --pidfile a.pid])
    second = start_bontebok(ready: false, listen: :tcp, args: %w[-w 0 --pidfile a.pid --log a.log])
    assert_equal 1, second.wait.exitstatus
    second.output.wait_for_end
    assert_equal "bontebok: #{temp_dir}/a.pid has the pid of a running server: #{first.pid}\n", second.output.text
    assert_equal 1, Dir.glob("#{temp_dir}/loaded-*").size
    first.kill
    start_bontebok(listen: :tcp, args: %w[-w 0 --pidfile a.pid])
  end

  def test_a_directory_or_file_that_is_not_there_fails_the_start
    missing = "its directory does not exist"
    { %w[--directory none] => "command line: cannot change to the directory none: No such file or directory",
      %w[--pidfile none/a.pid] => "cannot write the file #{temp_dir}/none/a.pid: #{missing}",
      %w[--log none/a.log] => "cannot write to #{temp_dir}/none/a.log: #{missing}" }.each do |args, message|
      server = start_bontebok(ready: false, rackup: APP, args: args)
      assert_equal 1, server.wait.exitstatus
      server.output.wait_for_end
      assert_equal "bontebok: #{message}\n", server.output.text
    end
  end

  def test_a_touched_restart_file_reloads_the_application
    temp_file("version", "1")
    server = start_bontebok(rackup: "version = File.read('version')\nrun ->(_) { [200, {}, [version]] }\n",
                            args: %w[-w 1 --restart-file restart.txt])
    assert_equal "1", server.get.body
    temp_file("version", "2")
    temp_file("restart.txt")
    server.wait_for_output(/master \(pid \d+\) leaves when its replacement is ready/)
    server.wait_for_output(/master \(pid \d+\) has left: exit status 0/)
    assert_equal "2", server.get.body
  end

  private

  def checked
    server = start_bontebok(ready: false, args: ["--check"])
    server.wait
    server.output.wait_for_end
    server.output.text
  end

  def get(address)
    Support::Client.open(address) do |client|
      client.get("/", { "Connection" => "close" })
    end
  end
end
