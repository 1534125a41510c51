# frozen_string_literal: true

require "test_helper"
require_relative "../../support/versions/former_version"
require_relative "../support/supervisor_case"
require "bontebok/sockets/passed_variable"

# What a server passes to its executed masters, and to the program that takes the supervisor's place. These can have the
# former version of Bontebok, which needs all values that it passes itself, with the same types. The processes of the
# test's release write down what they send.
class PassedValuesTest < Support::TestCase
  include SupervisorCase

  Former = Support::FormerVersion

  def test_a_former_version_finds_all_values_that_it_needs
    make_recording_release
    start_release("-w", "2", "--restart-file", "#{temp_dir}/restart", "--pidfile", "#{temp_dir}/pid", "--tag", "shop",
                  "--keep-former", "10m", "--access-log", "#{temp_dir}/access.log",
                  listen: ["-l", "unix:#{temp_dir}/bontebok.sock", "-l", "127.0.0.1:0"])
    assert_command 0, "generation 2 serves\n", "deploy", "--wait"
    assert_equal 0, run_command("drain").status.exitstatus
    assert_command 0, /the supervisor runs bontebok/, *COMMAND
    question, answer = File.readlines("#{temp_dir}/said").map { |line| JSON.parse(line) }
    assert_empty Former.lacking(Former::QUESTION, question, "question")
    assert_empty Former.lacking(Former::ANSWER, answer, "answer")
    assert_state(JSON.parse(File.read("#{temp_dir}/state")))
  end

  private

  def start_release(*args, **options)
    start_current("--control", control, *args, command: [RbConfig.ruby, "exe/bontebok"], **options)
  end

  # The last state is that of the program that takes the place.
  def make_recording_release
    release_with_bontebok(1, Bontebok::VERSION)
    change_lib(1, "sockets/handshake.rb", /def say\(message, .*\n/, <<~RUBY)
      \\0File.write(#{"#{temp_dir}/said".inspect}, "\#{JSON.generate(message)}\\n", mode: "a")
    RUBY
    program = "#{temp_dir}/releases/1/exe/bontebok"
    File.write(program, <<~RUBY + File.read(program))
      state = ENV["BONTEBOK_SUPERVISOR_STATE"]
      File.write(#{"#{temp_dir}/state".inspect}, state) if state
    RUBY
  end

  def assert_state(state)
    assert_empty Former.lacking(Former::STATE, state, "state")
    types = { **Former.types("types"), **Former.types("own_types") }
    assert_equal state, Bontebok::PassedVariable.checked(state, types)
  end
end
