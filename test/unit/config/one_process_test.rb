# frozen_string_literal: true

require "test_helper"
require "bontebok/config/config"

# The configuration of a build that serves with one process (Extension): max_workers has no effect.
class OneProcessTest < Support::TestCase
  def test_auto_and_zero_mean_one_process
    [{}, { max_workers: ["auto"] }, { max_workers: ["0"] }].each do |written|
      config = config(written)
      assert_equal 0, config.workers
      assert_empty config.warnings
    end
  end

  def test_a_number_of_workers_has_no_effect_and_causes_a_warning
    config = config({ max_workers: ["2"] })
    assert_equal 0, config.workers
    assert_equal ["command line: max_workers 2 has no effect: on this system, one process serves"], config.warnings
  end

  def test_the_environment_causes_the_same_warning
    config = config({}, env: { "WEB_CONCURRENCY" => "3" })
    assert_equal 0, config.workers
    assert_match(/WEB_CONCURRENCY.*: max_workers 3 has no effect/, config.warnings.join)
  end

  def test_workers_count_on_linux
    config = Bontebok::Config.new({ max_workers: ["2"] }, env: {}, one_process: false)
    assert_equal 2, config.workers
    assert_empty config.warnings
  end

  private

  def config(written, env: {})
    Bontebok::Config.new(written, env: env, one_process: true)
  end
end
