# frozen_string_literal: true

require "test_helper"
require "bontebok/bontebok"

# Totals in a file (Core::Metrics.file), which executed processes use as well.
class MetricsFileTest < Support::TestCase
  Core = Bontebok::Core

  def setup
    skip "no files are shared" if Core::PORTABLE
    @file = IO.for_fd(Core::Metrics.file(2))
  end

  def teardown
    @file&.close
    super
  end

  def test_metrics_that_are_only_for_reading_change_nothing
    File.open("/proc/self/fd/#{@file.fileno}") do |reader|
      metrics = Core::Metrics.new(2, reader.fileno)
      Core::Metrics.new(2, @file.fileno).count("name", 2)
      assert_equal({ "name" => 2 }, metrics.totals[:names])
      worker = Core::Worker.new
      changes = [-> { metrics.count("name") }, -> { metrics.note(:end, "text") }, -> { worker.metrics(metrics, 1, 1) }]
      changes.each { |change| assert_match(/only for reading/, assert_raises(RuntimeError, &change).message) }
      worker.metrics(Core::Metrics.new(2), 1, 1)
      worker.close
    end
  end

  # The application in a worker can overwrite the memory.
  def test_any_bytes_in_the_file_are_read
    metrics = Core::Metrics.new(2, @file.fileno)
    random = Random.new(38)
    [*["\x00", "\x01", "\x80", "\xff"].map { |byte| byte.b * @file.stat.size },
     *Array.new(20) { random.bytes(@file.stat.size) }].each do |content|
      @file.pwrite(content, 0)
      assert_operator metrics.lanes.size, :<=, 2
      assert_operator metrics.notes(:end).size + metrics.notes(:deploy).size, :<=, 40
      assert_operator metrics.totals[:names].size, :<=, 128
      metrics.count("name")
      metrics.note(:end, "text")
    end
  end

  def test_another_file_raises
    File.open(__FILE__) { |file| assert_raises(ArgumentError) { Core::Metrics.new(2, file.fileno) } }
    board = IO.for_fd(Core::Scoreboard.file(2))
    assert_raises(ArgumentError) { Core::Metrics.new(2, board.fileno) }
    assert_raises(TypeError) { Core::Metrics.file("many") }
  ensure
    board&.close
  end
end
