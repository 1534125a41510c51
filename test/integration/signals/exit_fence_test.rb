# frozen_string_literal: true

require "test_helper"

# Tests how a forked process ends after it has called ExitFence.put.
class ExitFenceTest < Support::TestCase
  PREPARED = <<~RUBY.freeze
    require "#{ROOT}/lib/bontebok/system/exit_fence"
    $stdout.sync = true
    at_exit { puts "before" }
    def behind_the_fence
      Process.wait(fork { Bontebok::ExitFence.put; yield })
      exit!($?.exitstatus || $?.termsig + 128)
    end
  RUBY

  def test_only_exit_handlers_that_were_registered_after_put_run
    assert_run 3, "child\n", "", "behind_the_fence { at_exit { puts 'child' }; exit(3) }"
    assert_run 0, "grandchild\nchild\nchild\n", "", <<~RUBY
      behind_the_fence do
        at_exit { puts "child" }
        Process.wait(fork { at_exit { puts "grandchild" } })
      end
    RUBY
  end

  def test_threads_end_with_their_ensure
    assert_run 0, "ensured\n", "", <<~RUBY
      behind_the_fence do
        begun = Queue.new
        Thread.new { begin; begun.push(1); sleep; ensure; puts "ensured"; end }
        begun.pop
      end
    RUBY
  end

  def test_data_in_buffers_is_written
    assert_run 0, "", "", "behind_the_fence { $file = File.new('written', 'w'); $file.write('all') }"
    assert_equal "all", File.read(File.join(temp_dir, "written"))
  end

  def test_a_process_removes_only_its_own_temporary_files
    assert_run 0, "parents stays\nbefore\n", "", <<~RUBY
      require "tempfile"
      parents = Tempfile.new("parents", ".")
      at_exit { puts "parents stays" if File.exist?(parents.path) }
      Process.wait(fork do
        Bontebok::ExitFence.put
        $kept = [Tempfile.new("childs", "."), Tempfile.new("removed", ".").tap(&:unlink)]
      end)
    RUBY
    assert_empty Dir.children(temp_dir)
  end

  def test_an_exception_and_a_signal_end_the_process_as_usual
    assert_run 1, "", /no such shelf \(IndexError\)/, "behind_the_fence { raise IndexError, 'no such shelf' }"
    assert_run 1, "", /no such shelf \(IndexError\)/, # under ruby -W0
               "$VERBOSE = nil; behind_the_fence { raise IndexError, 'no such shelf' }"
    assert_run 128 + Signal.list.fetch("TERM"), "", "",
               "behind_the_fence { Process.kill('TERM', Process.pid); sleep }"
  end

  # The handlers of the parent must not run, whatever objects of the application do.
  def test_objects_that_raise
    { "def (IO.pipe.last.tap { |io| $kept = io }).closed? = raise('x'); exit(3)" => 3,
      "def (IO.pipe.last.tap { |io| $kept = io }).flush = raise(NotImplementedError); exit(3)" => 3,
      "require 'tempfile'; $kept = Tempfile.new('x', '.'); def $kept.path = raise('x'); exit(3)" => 3,
      "raise Class.new(StandardError) { def full_message(**) = raise('x') }" => 1,
      "raise Class.new(SystemExit) { def status = raise('x') }" => 1,
      "raise SignalException, 'CHLD'" => 1, "raise SignalException, 'VTALRM'" => 1 }.each do |code, status|
      assert_run status, "", //, "behind_the_fence { #{code} }"
    end
  end

  def test_a_process_that_is_forked_in_a_block_ends_with_the_block
    { "nil" => 0, "exit(3)" => 3, "raise 'x'" => 1, "throw :out" => 0 }.each do |code, status|
      assert_run 0, "#{status}\n", //, <<~RUBY
        at_exit { exit!(9) if $parent != Process.pid }
        $parent = Process.pid
        pid = nil
        catch(:out) { Bontebok::ExitFence.keep_forks_out { #{code} unless (pid = fork) } }
        exit!(8) unless $parent == Process.pid
        puts Process.wait2(pid).last.exitstatus
        exit!(0)
      RUBY
    end
  end

  private

  def assert_run(status, stdout, stderr, script)
    child = Support::ChildProcess.run(RbConfig.ruby, "-e", PREPARED + script, chdir: temp_dir)
    assert_equal [status, stdout], [child.status.exitstatus, child.output.text(:stdout)], child.output.text
    assert_operator stderr, :===, child.output.text(:stderr)
  end
end
