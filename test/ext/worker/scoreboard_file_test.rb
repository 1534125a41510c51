# frozen_string_literal: true

require "test_helper"
require "bontebok/bontebok"

# A scoreboard in a file (Core::Scoreboard.file), which executed processes use as well.
class ScoreboardFileTest < Support::TestCase
  Scoreboard = Bontebok::Core::Scoreboard

  def setup
    skip "no files are shared" if Bontebok::Core::PORTABLE
    @file = IO.for_fd(Scoreboard.file(2))
  end

  def teardown
    @file&.close
    super
  end

  def test_two_scoreboards_of_a_file_share_their_state
    one, other = Array.new(2) { Scoreboard.new(2, @file.fileno) }
    assert_predicate @file, :close_on_exec?
    @file.close
    one.draining = true
    assert_predicate other, :draining?
    refute_predicate Scoreboard.new(2), :draining?
  end

  def test_another_file_raises
    File.open(__FILE__) do |file|
      error = assert_raises(ArgumentError) { Scoreboard.new(2, file.fileno) }
      assert_equal "bontebok: the shared memory is not a scoreboard of this version", error.message
    end
  end

  # The application in a worker can overwrite the memory.
  def test_any_bytes_in_the_file_are_read
    board = Scoreboard.new(2, @file.fileno)
    random = Random.new(38)
    bytes = ["\x00", "\x01", "\x7f", "\x80", "\xff"].map { |byte| byte.b * @file.stat.size }
    [*bytes, *Array.new(200) { random_words(random) }].each do |content|
      @file.pwrite(content, 0)
      assert_lanes(board)
      board.share_with([Process.pid, -1, 0])
      board.clear(Process.pid, -1, board)
    end
  end

  def test_a_file_that_is_open_to_read_shows_and_changes_nothing
    File.open("/proc/self/fd/#{@file.fileno}") do |reader|
      board = Scoreboard.new(2, reader.fileno)
      Scoreboard.new(2, @file.fileno).draining = true
      assert_predicate board, :draining?
      assert_empty board.lanes
      changes = [-> { board.draining = false }, -> { board.taken_over = true }, -> { board.share_with([]) },
                 -> { board.clear(1, -1, board) }, -> { Scoreboard.new(2).clear(1, -1, board) }]
      changes.each { |change| assert_match(/only for reading/, assert_raises(RuntimeError, &change).message) }
    end
  end

  def test_a_closed_or_wrong_descriptor_raises
    number = @file.fileno
    @file.close
    assert_raises(Errno::EBADF) { Scoreboard.new(2, number) }
    assert_raises(TypeError) { Scoreboard.new(2, "a file") }
    assert_raises(TypeError) { Scoreboard.file("many") }
  end

  private

  # Many words are 0, because some fields are shown only if another one is 0.
  def random_words(random)
    Array.new(@file.stat.size / 8) { random.rand(2).zero? ? random.bytes(8) : "\0" * 8 }.join
  end

  def assert_lanes(board)
    assert_operator board.lanes.size, :<=, 2
    board.lanes.each do |lane|
      assert_predicate lane[:pid], :positive?
      assert_includes [nil, :body, :stream], lane[:held]
      refute_match(/[\x00-\x1f\x7f]/n, lane[:label].to_s)
    end
    assert_operator board.held[:threads].values.sum, :<=, 2
    assert_equal %i[readers senders], board.slow.keys
  end
end
