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

  def test_a_closed_or_wrong_descriptor_raises
    number = @file.fileno
    @file.close
    assert_raises(Errno::EBADF) { Scoreboard.new(2, number) }
    assert_raises(TypeError) { Scoreboard.new(2, "a file") }
    assert_raises(TypeError) { Scoreboard.file("many") }
  end
end
