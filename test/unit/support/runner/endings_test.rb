# frozen_string_literal: true

require "test_helper"
require "support/runner/bench_scripts"
require "support/runner/guard"

# Tests that no process and no directory is left when a run of bin/test or of a script in bench/ is ended.
class EndingsTest < Support::TestCase
  BIN_TEST = "bin/test"
  # Only this script runs without gems of other servers.
  SCRIPT = "bench/canary"
  # Starts a shell that starts the script, as a job: otherwise the script would ignore INT. Ends when the last
  # descendant has ended.
  KEEPER = <<~'RUBY'
    require "#{ARGV.shift}/test/support/runner/guard"
    Runner::Guard.adopt_orphans
    parent = spawn("bash", "-c", 'set -m; "$@" & echo "script $!"; wait', "bash", *ARGV)
    $stdout.syswrite("parent #{parent}\n")
    Process.waitall
  RUBY
  # What ends: the process, and the signal that it gets.
  WAYS = [%w[script INT], %w[script TERM], %w[parent KILL]].freeze
  # A moment is the Symbol :begun, or the path of a file that then exists, or a Regexp for the command of a process.
  SERVER = %r{exe/bontebok|bontebok supervisor}
  CLIENT = /bontebok-bench --|stream_client /
  MOMENTS = [:begun, SERVER, CLIENT].freeze
  # { script => its arguments, and its moments }
  OTHERS = { "bench/canary" => [%w[--behind nginx]], "bench/deploy" => [%w[--only start_server]],
             "bench/faults" => [%w[hung], [:begun, SERVER, /bontebok worker/]],
             "bench/parser/run" => [[], [:begun, /\bcc1\b/, /parsers/]],
             "bench/price" => [[], [:begun, /valgrind/, CLIENT]],
             "bench/psgi" => [[], [:begun, /core_host/, CLIENT]],
             "bench/start" => [[], [:begun, SERVER, /puma|unicorn/]],
             "bench/strikes" => [[], [:begun, SERVER, /bontebok worker/]] }.freeze
  # A test that waits until a signal ends it.
  WAITING = <<~'RUBY'
    require "test_helper"
    class WaitingTest < Support::TestCase
      def test_that_waits
        2.times { start_process("sh", "-c", "trap '' INT TERM; setsid sleep 60 & sleep 60") }
        File.write("#{ROOT}/waiting", temp_dir)
        sleep
      end
    end
  RUBY
  ENVIRONMENT = { "RUBYOPT" => nil, "RUBYLIB" => nil, "BUNDLE_GEMFILE" => "#{ROOT}/Gemfile" }.freeze

  # Its path is short, because it is in the paths of the scripts' unix sockets.
  def setup
    @directory = File.join(Dir.tmpdir, "e#{Process.pid}")
    Dir.mkdir(@directory)
  end

  def after_teardown
    super
    FileUtils.rm_rf(@directory)
  end

  def test_bin_test
    copy_of_bin_test
    moments = Support::Length.of([:waiting], [:begun, "tmp/test/unit.log", "waiting"])
    moments = moments.map { |moment| moment == :begun ? moment : File.join(temp_dir, moment.to_s) }
    ways = Support::Length.of(WAYS.drop(1), WAYS)
    moments.product(ways).each do |moment, way|
      FileUtils.rm_rf([File.join(temp_dir, "waiting"), File.join(temp_dir, "tmp")])
      assert_nothing_left([File.join(temp_dir, BIN_TEST), "unit"], moment, way)
    end
  end

  def test_a_script
    assert_nothing_left([File.join(ROOT, SCRIPT)], :begun, WAYS.first)
  end

  if Support::Length::LONG
    Runner::BENCH_SCRIPTS.each_with_index do |script, index|
      define_method("test_#{script.tr("/", "_")}") do
        arguments, moments = OTHERS.fetch(script, [[]])
        (moments || MOMENTS).each_with_index do |moment, number|
          assert_nothing_left([File.join(ROOT, script), *arguments], moment, WAYS[(index + number) % 3])
        end
      end
    end
  end

  private

  # bin/test with one test, in a directory of its own.
  def copy_of_bin_test
    FileUtils.mkdir_p(%w[bin test].map { |name| File.join(temp_dir, name) })
    %w[bin/test test/support test/support.rb test/test_helper.rb].each do |path|
      FileUtils.cp_r(File.join(ROOT, path), File.join(temp_dir, path))
    end
    temp_file("test/unit/waiting_test.rb", WAITING)
    File.chmod(0o755, temp_file("bin/setup", "#!/bin/sh\n"))
  end

  def assert_nothing_left(command, moment, (role, signal))
    keeper = start_process(RbConfig.ruby, "--disable=gems", "-e", KEEPER, ROOT, *command,
                           env: { **ENVIRONMENT, "TMPDIR" => @directory })
    ended = keeper.wait_for_output(/^#{role} (\d+)$/)[1]
    eventually("#{moment} of #{command}", limit: 180) { !keeper.running? || come?(moment, keeper) }
    miss(command, keeper) unless keeper.running?
    Process.kill(signal, ended.to_i)
    keeper.wait(60)
    assert_empty Dir.children(@directory), "#{command} #{moment} #{role} #{signal}"
  ensure
    Support::ProcessTable.descendants(keeper.pid).each { |process| Process.kill("KILL", process.pid) } if keeper
  end

  # Other scripts need gems or programs that this machine may not have.
  def miss(command, keeper)
    message = "#{command} has ended:\n#{keeper.output.text}"
    [BIN_TEST, SCRIPT].any? { |name| command.first.end_with?(name) } ? flunk(message) : skip(message)
  end

  def come?(moment, keeper)
    case moment
    when :begun then Dir.children(@directory).any?
    when String then File.exist?(moment)
    when Regexp then Support::ProcessTable.descendants(keeper.pid).any? { |process| process.command.match?(moment) }
    end
  end
end
