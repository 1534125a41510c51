# frozen_string_literal: true

require "stringio"
require "test_helper"
require "bontebok/cli/cli"
require "bontebok/cli/control_command"
require "bontebok/cli/progress_lines"

# The arguments of the commands for a running server, and what they make of its answers. The server is a thread.
class ControlCommandTest < Support::TestCase
  def setup
    @path = "#{temp_dir}/control"
    @server = UNIXServer.new(@path)
  end

  def teardown
    @server.close
    @thread&.join
    super
  end

  def test_the_last_message_has_the_exit_status
    answer({ text: "one" }, { status: 3, text: "busy" })
    assert_equal [3, "one\n", "bontebok: busy\n"], run_cli("reopen")
  end

  # Another program may listen at the path.
  def test_an_answer_with_another_status_is_an_error
    ["zzz", true, {}, [1], 1.5, -1, 256, 2**70].each do |status|
      answer({ status: status, text: "x" })
      message = "bontebok: the server at #{@path} sends something else: the status #{status.inspect}\n"
      assert_equal [1, "", message.b], run_cli("reopen").then { |code, *texts| [code, *texts.map(&:b)] }, status.inspect
    end
  end

  # As the options of the server.
  def test_a_flag_may_have_its_value_after_an_equals_sign
    canary = { "canary" => 2, "for" => 30.0, "max_errors" => 0.015 }
    [%w[--canary=2 --for=30s --max-errors=1.5%], %w[--canary 2 --for=30s --max-errors 1.5%]].each do |flags|
      answer({ status: 0 })
      assert_equal [0, "", ""], run_cli("deploy", *flags)
      assert_equal canary, @request.slice(*canary.keys)
    end
    form = run_cli("status", "--format=yaml")
    assert_equal run_cli("status", "--format", "yaml"), form
    assert_match(/--format wants another value than "yaml": /, form.last)
    assert_match(/--canary wants another value than "": /, run_cli("deploy", "--canary=", "1").last)
    assert_match(/only one of --json, /, run_cli("status", "--json", "--format=csv").last)
  end

  def test_a_flag_without_a_value_gets_none
    { "deploy" => "wait", "stop" => "now", "status" => "json", "restart-workers" => "slowly" }.each do |command, flag|
      assert_equal [2, "", "bontebok: --#{flag} takes no value\n"], run_cli(command, "--#{flag}=1")
    end
    assert_equal [2, "", "bontebok: --wait takes no value\n"], run_cli("deploy", "--wait=")
  end

  def test_an_answer_cannot_control_the_terminal
    answer({ text: "\e]0;x\a\u009b2J\r a\u202eb\tc\nd" }, { log: "\e[1;31merror\e[0m: caf\u00e9 \u2714\ufe0f\n\e[2J" },
           { log: { a: "\e" } }, { status: 0, text: ["\e[2J"] })
    assert_equal [0, "?]0;x??2J? a?b\tc\nd\n[\"\\e[2J\"]\n", "error: caf\u00e9 \u2714\ufe0f\n?[2J{\"a\"=>\"\\e\"}"],
                 run_cli("reopen")
  end

  def test_progress_of_any_type_is_drawn
    processes = [7, { pid: 1 }, { pid: "\e[2J" }, { pid: 2, busy: "\e[2J", leaves: true }]
    [nil, 7, { processes: nil }, { processes: processes }].each do |server|
      terminal = StringIO.new
      terminal.define_singleton_method(:winsize) { [24, 80] }
      Bontebok::ProgressLines.new(terminal) { server && JSON.parse(JSON.generate(server)) }.draw
      refute_match(/\e|[^\n]{80}/, terminal.string)
    end
  end

  private

  def run_cli(*argv)
    status = nil
    out, err = capture_io { status = Bontebok::CLI.run([*argv, "--control", @path]) }
    [status, out, err]
  end

  # Answers the next request, and keeps it.
  def answer(*messages)
    @thread&.join
    @thread = Thread.new do
      client = @server.accept
      @request = JSON.parse(client.gets)
      messages.each { |message| client.write(Bontebok::ControlMessage.line(message)) }
      client.close
    end
  end
end
