# frozen_string_literal: true

require "test_helper"

# Tests that a test process leaves nothing behind when a signal ends it.
class SignalTest < Support::TestCase
  # Prints the process groups that it starts, and its directory.
  TEST = <<~'RUBY'
    require "test_helper"
    class Inner < Support::TestCase
      def test_that_waits
        pids = Array.new(4) { start_process("sh", "-c", "sleep 60 & sleep 60").pid }
        $stdout.syswrite("ready #{pids.join(' ')} #{temp_dir}\n")
        sleep
      end
    end
  RUBY

  BUNDLER = { "RUBYOPT" => nil, "RUBYLIB" => nil }.freeze

  def test_the_processes_and_the_directory_of_a_test_are_removed
    runners = %w[INT TERM].to_h { |signal| [signal, start_test] }
    runners.each do |signal, runner|
      groups, directory = runner.wait_for_output(/^ready ([\d ]+) (\S+)$/).captures
      runner.signal(signal)
      refute_predicate runner.wait, :success?
      groups.split.each { |group| eventually { Support::ProcessTable.group(group.to_i).empty? } }
      refute_path_exists directory
    end
  end

  private

  def start_test
    start_process(RbConfig.ruby, "-rbundler/setup", "-I#{ROOT}/test", "-e", TEST, chdir: ROOT, env: BUNDLER)
  end
end
