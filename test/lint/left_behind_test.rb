# frozen_string_literal: true

require_relative "checks"
require "support/runner/bench_scripts"

# Tests what the programs need that leave nothing behind when they are ended (see Runner::Guard).
class LeftBehindTest < Lint::TestCase
  def test_scripts_are_guarded_first
    assert_operator Runner::BENCH_SCRIPTS.size, :>, 15
    [*Runner::BENCH_SCRIPTS, "test/support/run.rb"].each do |script|
      first = File.foreach(File.join(ROOT, script)).find { |line| !line.match?(/^(#|$)/) }
      assert_match(%r{^require_relative ".*runner/guarded"$}, first, script)
    end
  end

  # The run's TMPDIR is removed with the files of a killed test.
  def test_no_test_in_c_names_the_directory_of_its_files
    files = Dir.glob("{core,ext,load}/**/*.{c,h}", base: ROOT)
    assert_empty(files.select { |file| File.binread(File.join(ROOT, file)).match?(%r{"/tmp/.*X{6}}) })
  end
end
