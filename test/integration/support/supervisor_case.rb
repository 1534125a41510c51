# frozen_string_literal: true

require_relative "control_case"

# Tests of `bontebok deploy --supervisor` include this module.
module SupervisorCase
  include ControlCase

  COMMAND = ["deploy", "--supervisor"].freeze

  def setup
    FileUtils.mkdir("#{temp_dir}/tmp")
  end

  private

  def start_release(*args)
    start_current("-w", "1", "--control", control, *args, command: [RbConfig.ruby, "exe/bontebok"])
  end

  # A release with its own Bontebok, in whose file for the state `before` becomes `after`.
  def release_with_bontebok(number, version, before = "", after = "")
    super(number, version)
    state = "#{temp_dir}/releases/#{number}/lib/bontebok/processes/supervisor/state.rb"
    File.write(state, File.read(state).sub(before, after))
  end

  # Starts a command. The executed program waits in this file of the release (see #wait_in). The trial gets signals
  # before it has handlers.
  def replace_slowly(server, name = "exe/bontebok", *change)
    release_with_bontebok(2, "99.1.2", *change)
    wait_in("releases/2/#{name}", "client")
    start_command(*COMMAND)
    server.wait_for_output(/^executed$/)
  end

  # Lets the file wait for the file "go", if the process has a state with this word.
  def wait_in(name, word)
    path = "#{temp_dir}/#{name}"
    File.write(path, <<~RUBY + File.read(path))
      state = ENV["BONTEBOK_SUPERVISOR_STATE"].to_s
      %w[HUP USR1 USR2 TTIN TTOU].each { |name| Process.kill(name, Process.pid) } if state.include?("answer")
      if state.include?(#{word.inspect})
        warn "executed"
        sleep 0.01 until File.exist?("#{temp_dir}/go")
      end
    RUBY
  end
end
