# frozen_string_literal: true

require "json"
require "socket"
require_relative "process_tree"
require_relative "releases"

# Tests of the commands for a running server include this module. The server runs in the link `current`.
module ControlCase
  include ProcessTree
  include Releases

  def setup
    release(1)
    FileUtils.mkdir("#{temp_dir}/tmp")
  end

  private

  def start(*args)
    start_current("-w", "2", "--control", control, *args)
  end

  def control
    "#{temp_dir}/tmp/bontebok.control"
  end

  def ruby_client
    [RbConfig.ruby, Support::BontebokProcess::EXECUTABLE]
  end

  def start_command(*args)
    start_process(*ruby_client, *args, "--control", control, chdir: temp_dir)
  end

  # As in a shell, PWD is the name of the link.
  def run_command(*args, control: ["--control", self.control], env: {})
    directory = "#{temp_dir}/current"
    Support::ChildProcess.run(*ruby_client, *args, *control, chdir: directory, env: { "PWD" => directory, **env })
  end

  def assert_command(status, output, *args, **options)
    command = run_command(*args, **options)
    assert_operator output, :===, command.output.text
    assert_equal status, command.status.exitstatus
  end

  # What the server says to older commands. No process is started for this.
  def status
    UNIXSocket.open(control) do |socket|
      socket.write("{\"version\":1,\"command\":\"status\"}\n")
      JSON.parse(socket.read).fetch("server")
    end
  end
end
