# frozen_string_literal: true

require "etc"
require "json"
require "test_helper"

# Starts the server in the same way as a container does. Root starts it as the first process of a PID namespace, with
# two environment variables and --user nobody.
class ProcessWholeTest < Support::TestCase
  BARE = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc",
          "env", "-i", "LANG=C", "PATH=#{ENV.fetch('PATH')}"].freeze
  LOGS = %w[err.log out.log access.log].freeze
  APP = <<~RUBY
    run(lambda do |env|
      $stdout.puts "größe"
      size = env["rack.input"].read.to_s.bytesize
      [200, { "content-type" => "text/plain" }, [[Process.uid, Process.gid, size, *ENV.keys.sort].join(" ")]]
    end)
  RUBY

  def setup
    skip "only root can become another user" unless Process.euid.zero?

    child = Support::ChildProcess.run(*BARE, "true")
    skip "not permitted here: #{child.output.text}" unless child.status.success?
    File.chmod(0o755, temp_dir)
    @nobody = Etc.getpwnam("nobody")
  end

  def test_requests_are_served_and_logs_are_rotated
    server = start_server
    first = Support::ProcessTable.children(server.pid).first.pid
    assert_serves(server)
    LOGS.each { |name| File.rename("#{temp_dir}/#{name}", "#{temp_dir}/#{name}.1") }
    Process.kill("HUP", first)
    eventually { File.exist?("#{temp_dir}/err.log") && messages("err.log").grep(/has left: exit status 0$/).size == 2 }
    assert_serves(server)
    Process.kill("TERM", first)
    assert_equal [0, ""], [server.wait.exitstatus, server.output.text]
    assert_left_in_order
  end

  private

  def start_server
    rackup_file("config.ru", APP)
    server = Support::ServerProcess.new(
      *BARE, RbConfig.ruby, Support::BontebokProcess::EXECUTABLE, "-w", "2", "-l", "unix:#{temp_dir}/a.sock",
      *%w[--user nobody --pidfile a.pid --spool-threshold 4K --log-format json],
      *%w[--log err.log --stdout out.log --access-log access.log], chdir: temp_dir
    )
    children << server
    eventually { File.exist?("#{temp_dir}/err.log") && messages("err.log").grep(/\Aready in /).any? }
    address = Support::Address.new("unix:#{temp_dir}/a.sock") # the start lines are in err.log
    server.define_singleton_method(:address) { address }
    server
  end

  def assert_serves(server)
    assert_equal "#{@nobody.uid} #{@nobody.gid} 100000 HOME LANG LOGNAME PATH RACK_ENV USER",
                 server.request("POST", "/", {}, "x" * 100_000).body
    assert_equal "1\n", File.read("#{temp_dir}/a.pid")
  end

  def assert_left_in_order
    assert_equal ["config.ru", *LOGS, *LOGS.map { |name| "#{name}.1" }].sort, Dir.children(temp_dir).sort
    files = LOGS.to_h { |name| [name, ["#{temp_dir}/#{name}.1", "#{temp_dir}/#{name}"]] }
    assert_equal [@nobody.uid], files.values.flatten.map { |path| File.stat(path).uid }.uniq
    assert_equal([2, 2], files.values.drop(1).map { |paths| paths.sum { |path| File.readlines(path).size } })
    assert_equal ["info"], [*entries("err.log.1"), *entries("err.log")].map { |entry| entry["level"] }.uniq
    assert_equal "stopped", messages("err.log").last
  end

  def messages(name)
    entries(name).map { |entry| entry["message"] }
  end

  def entries(name)
    File.readlines("#{temp_dir}/#{name}").map { |line| JSON.parse(line) }
  end
end
