# frozen_string_literal: true

require "test_helper"

# Tests that a test that hangs ends its process.
class HangWatchTest < Support::TestCase
  HANGING = <<~RUBY
    class Sample < Minitest::Test
      def test_that_hangs = Support::HangWatch.watch("it", 0.01) { Thread::Queue.new.pop }
    end
  RUBY

  def test_a_test_that_hangs_ends_with_a_backtrace
    helper = "#{ROOT}/test/test_helper.rb"
    child = Support::ChildProcess.run(RbConfig.ruby, "-r", helper, temp_file("sample_test.rb", HANGING))
    assert_equal 1, child.status.exitstatus
    assert_match(/^it hangs: .*^.*sample_test\.rb:2:in .*pop/m, child.output.text(:stderr))
  end

  def test_a_test_that_ends_is_not_watched_any_longer
    threads = Thread.list
    assert_equal 3, Support::HangWatch.watch("it") { 3 }
    assert_empty Thread.list.select(&:alive?) - threads
  end
end
