# frozen_string_literal: true

require "test_helper"
require_relative "../support/process_tree"

# Log files that logrotate has renamed. After HUP, every process of the server writes to new files.
class ProcessReopeningTest < Support::TestCase
  include ProcessTree

  LOGGING_APP = <<~RUBY
    run(lambda do |env|
      $stdout.puts "out \#{env["PATH_INFO"]}"
      $stderr.puts "err \#{env["PATH_INFO"]}"
      if env["PATH_INFO"] == "/gate"
        File.read("gate")
        $stderr.puts "err after the gate"
      end
      [200, {}, []]
    end)
  RUBY
  FILES = %w[log stdout access].freeze

  def test_all_processes_write_to_the_new_files
    [%w[HUP -w 0], %w[HUP -w 2], %w[HUP -w 2 --preload false], %w[USR1 -w 2]].each do |signal, *args|
      server = start_logging(args)
      server.get("/before")
      wait_for("access", "/before")
      rotate
      server.signal(signal)
      wait_for("log", "opened again")
      wait_for_workers(server, 2, without: @former) unless args.include?("0")
      server.get("/after")
      wait_for("access", "/after")
      assert_equal ["out /after", "/after"], [text("stdout"), text("access")].map(&:strip)
      assert_match(%r{opened again.*err /after$}m, text("log"))
      FILES.each { |name| refute_match(%r{/after|opened again|stopp}, text("#{name}.1")) }
      stop_and_clear(server)
    end
  end

  # The first HUP replaces the worker. The worker still runs its request when the files are renamed.
  def test_a_worker_that_leaves_also_writes_to_the_new_files
    make_gate
    server = start_logging(%w[-w 1])
    server.connect do |client|
      client.request("GET", "/gate")
      wait_for("log", "err /gate")
      server.signal("HUP")
      wait_for_workers(server, 2)
      rotate
      server.signal("HUP")
      wait_for("log", "opened again")
      eventually { !files_of(@former.first).intersect?([path("log.1"), path("access.1")]) }
      open_gate
      client.read_response
    end
    wait_for("access", "/gate")
    wait_for("log", "err after the gate")
    refute_match(/gate/, text("access.1"))
  end

  def test_the_server_keeps_the_old_file_of_a_log_that_cannot_be_opened_again
    %w[0 1].each do |workers|
      directory = File.join(temp_dir, "logs")
      Dir.mkdir(directory)
      server = start_bontebok(ready: false, rackup: LOGGING_APP,
                              args: ["-w", workers, "--log", "#{directory}/log", "--access-log", "#{directory}/access"])
      eventually { File.exist?("#{directory}/log") && File.read("#{directory}/log").include?(" ready in ") }
      File.rename(directory, "#{directory}.1")
      with_address(server).signal("HUP")
      fault = "cannot write to #{directory}/log: its directory does not exist"
      eventually { File.read("#{directory}.1/log").include?(fault) }
      assert_equal 200, server.get("/on").status
      assert_includes File.read("#{directory}.1/log"), "err /on"
      server.stop
      FileUtils.rm_rf("#{directory}.1")
    end
  end

  def test_other_logs_are_opened_again_if_one_log_cannot_be_opened
    directory = File.join(temp_dir, "logs")
    Dir.mkdir(directory)
    server = start_bontebok(ready: false, rackup: LOGGING_APP,
                            args: ["-w", "1", "--log", "#{directory}/log", "--stdout", path("stdout")])
    eventually { File.exist?("#{directory}/log") && File.read("#{directory}/log").include?(" ready in ") }
    former = workers(server)
    File.rename(directory, "#{directory}.1")
    File.rename(path("stdout"), path("stdout.1"))
    with_address(server).signal("HUP")
    wait_for_workers(server, 1, without: former)
    server.get("/on")
    wait_for("stdout", "out /on")
    assert_includes text("stdout"), "out /on"
    server.stop
  end

  private

  def start_logging(args)
    server = start_bontebok(ready: false, rackup: LOGGING_APP,
                            args: [*args, "--log", path("log"), "--stdout", path("stdout"), "--access-log",
                                   path("access"), "--access-log-format", "%U"])
    wait_for("log", " ready in ")
    @former = workers(server)
    with_address(server)
  end

  # The start lines with the address are in a file, so the server object cannot read the address.
  def with_address(server)
    server.define_singleton_method(:address) { Support::Address.new("unix:#{@directory}/bontebok.sock") }
    server
  end

  def files_of(pid)
    Support::ProcessTable.descriptors(pid).values
  end

  def stop_and_clear(server)
    server.stop
    FILES.each { |name| File.unlink(path(name), path("#{name}.1")) }
  end

  def rotate
    FILES.each { |name| File.rename(path(name), path("#{name}.1")) }
  end

  def wait_for(name, text)
    eventually("#{text.inspect} in #{name}") { File.exist?(path(name)) && text(name).include?(text) }
  end

  def text(name)
    File.read(path(name))
  end

  def path(name)
    File.join(temp_dir, name)
  end
end
