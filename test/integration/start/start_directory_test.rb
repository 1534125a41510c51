# frozen_string_literal: true

require "test_helper"
require_relative "../support/control_case"

# The directory in which the server was started may be gone: a deploy needs only the files that the start command names.
# If one of them is missing, the present process serves on.
class StartDirectoryTest < Support::TestCase
  include ControlCase

  def test_the_release_of_the_start_may_be_gone
    server = start_in("releases/1", "-w", "1", "--directory", "../../current")
    release(2)
    remove_release(1)
    assert_command 0, "generation 2 serves\n", "deploy", "--wait"
    assert_serves 2, server
  end

  # The file enters the link. The path that leads to the file begins in the directory of the start.
  def test_another_directory_may_be_gone_but_not_the_configuration_file
    temp_file("start/x")
    %w[1 0].each do |workers|
      release(1)
      file = temp_file("shared.rb", "directory '#{temp_dir}/current'\nmax_workers #{workers}\n")
      server = start_in("start", "-c", "../shared.rb")
      FileUtils.rm_r("#{temp_dir}/start")
      release(2)
      File.rename(file, "#{file}.gone")
      assert_command 1, /#{file}/, "deploy", "--wait"
      assert_serves 1, server
      File.rename("#{file}.gone", file)
      assert_command 0, / serves\n/, "deploy", "--wait"
      assert_serves 2, server
      server.stop
      temp_file("start/x")
    end
  end

  # The hook runs when the requests are finished: the program becomes a script whose interpreter is missing.
  def test_one_process_serves_on_if_the_kernel_rejects_the_command
    ruby = "#{temp_dir}/ruby"
    File.symlink(RbConfig.ruby, ruby)
    make_gate
    app = "run ->(env) { [200, {}, [\"release 1, \#{env['PATH_INFO'] == '/gate' && File.read('#{gate}')} leak nil\"]] }"
    release(1, "config.ru" => app, "config/bontebok.rb" => <<~RUBY)
      on_booted { $stderr.syswrite("hook on_booted\n") }
      after_stopped do
        File.unlink("#{ruby}")
        File.write("#{ruby}", "#!/proc/none\n", perm: 0o755)
      end
    RUBY
    server = start_in("current", "-w", "0", "--pidfile", "#{temp_dir}/pid", "--graceful-timeout", "500ms", ruby: ruby)
    release(2)
    assert_command 1, /the start command cannot be executed: No such file or directory/, "deploy", "--wait"
    assert_serves 1, server
    server.wait_for_output(/the process serves on.*hook on_booted/m)
    server.signal("HUP")
    server.wait_for_output(/log files are opened again/)
    request_at_gate(server) do # the next deploy does not await the request
      assert_command 1, /the start command cannot be executed: No such file or directory/, "deploy", "--wait"
      server.wait_for_output(/(?:.*ready in \d+ ms){3}/m)
      assert_serves 1, server
    end
    assert_path_exists "#{temp_dir}/pid"
    totals = TotalsReader.new(server.pid)
    assert_equal [1, 2], [totals.memories, totals.look["deploy failed"]]
    assert_includes totals.notes(:deploy).last, "the deploy failed: the start command cannot be executed"
    assert_command 0, /serving/, "status"
    assert_equal 0, server.stop.exitstatus
    refute_path_exists "#{temp_dir}/bontebok.sock"
  end

  def test_one_process_serves_on_if_its_directory_goes_during_a_deploy
    make_gate
    release(1, "config.ru" => "run ->(env) { [200, {}, [env['PATH_INFO'] == '/gate' ? File.read('#{gate}') : 'x']] }")
    server = start_in("current", "-w", "0", "--restart-file", "restart.txt")
    request_at_gate(server) do
      server.signal("USR2")
      server.wait_for_output(/SIGUSR2: the process is executed again/)
      remove_release(1)
    end
    server.wait_for_output(/the process serves on(?:.*\n)+.*ready in/)
    assert_equal "x", server.get.body
    assert_equal 0, server.stop.exitstatus
  end

  def test_one_process_that_misses_a_file_finishes_no_requests
    release(1, "config.ru" => APP, "exe/bontebok" => File.read(Support::BontebokProcess::EXECUTABLE))
    FileUtils.cp_r(LIB, "#{temp_dir}/releases/1/lib")
    server = start_in("current", "-w", "0", command: "exe/bontebok")
    release(2)
    server.connect do |client|
      assert_command 1, %r{cannot be executed: No such file or directory - #{temp_dir}/current/exe/bontebok}, "deploy"
      server.signal("USR2")
      server.wait_for_output(/SIGUSR2: the start command cannot be executed/)
      client.request("GET", "/")
      assert_match(/release 1/, client.read_response.body)
    end
  end

  private

  def start_in(directory, *args, ruby: RbConfig.ruby, command: Support::BontebokProcess::EXECUTABLE)
    server = Support::ServerProcess.new(ruby, command, "-l", "unix:#{temp_dir}/bontebok.sock", "--control", control,
                                        "--err-respawn-interval", "10ms", *args,
                                        chdir: "#{temp_dir}/#{directory}", env: { "PWD" => "#{temp_dir}/#{directory}" })
    children << server
    server.wait_for_output(/ ready in \d+ ms$/)
    server
  end
end
