# frozen_string_literal: true

require "test_helper"
require_relative "../../../support/versions/former_version"
require "bontebok/config/config"
require "bontebok/processes/supervisor"
require "bontebok/processes/supervisor/state"

# Tests that the processes of a server understand each other if some of them have the former version of Bontebok.
# test/integration/sockets/passed_values_test.rb has what a present server sends, and
# test/interop/versions/versions_mix_test.rb has servers with both versions.
class VersionsTest < Support::TestCase
  Former = Support::FormerVersion
  State = Bontebok::Supervisor::State
  Channel = Bontebok::Channel

  def teardown
    [*@channels, *@ios].each(&:close)
  end

  def test_each_word_of_the_former_version_has_the_same_byte
    words = Channel::BYTES.transform_keys(&:to_s)
    assert_equal Former::RECORD.fetch("words"), words.slice(*Former::RECORD.fetch("words").keys)
    assert_equal words.size, words.values.uniq.size
  end

  def test_the_versions_of_the_messages_are_the_same
    assert_equal({ "state" => State::PROTOCOL, "start_of_master" => Bontebok::StartOfMaster::PROTOCOL },
                 Former::RECORD.fetch("protocols"))
    assert_equal [State::VARIABLE, Bontebok::Handshake::VARIABLE], Former::RECORD.fetch("variables")
  end

  def test_the_types_of_the_state_are_the_same
    { "types" => State::TYPES, "own_types" => State::OWN_TYPES }.each do |name, types|
      former = Former.types(name)
      assert_equal former, types.slice(*former.keys)
      # Values that are new do not come from the former version.
      assert(types.except(*former.keys).values.all? { |allowed| allowed.include?(nil) })
    end
  end

  def test_a_present_supervisor_reads_the_state_of_a_former_one
    state = State.take({ State::VARIABLE => JSON.generate(with_descriptors(Former::STATE)) })
    state.check
    config = Bontebok::SupervisorConfig.new(state.fetch("config"), Bontebok::Config.new({}, env: {}))
    assert_equal [2, 600, "shop"], [config.workers, config.seconds(:keep_former), config[:tag]]
  end

  # One of them serves, and the other one leaves.
  def test_masters_that_a_former_supervisor_carries_are_carried_again
    former = Former::STATE.fetch("masters").map(&:first)
    masters = former.map { |carried| restored(carried) }
    assert_equal %i[serving leaving], masters.map(&:state)
    again = masters.zip([true, false]).map { |master, newest| JSON.parse(JSON.generate(master.carry(newest))) }
    assert_empty Former.lacking(former, again)
    assert_equal(former.map { |carried| told(carried) }, again.map { |carried| told(carried) })
  end

  def test_a_master_sends_the_configuration_with_all_values_of_the_former_version
    config = Bontebok::Config.new({ access_log: ["-"], control: ["c"], restart_file: ["r"], tag: ["shop"] }, env: {})
    sent = JSON.parse(JSON.generate(Bontebok::SupervisorConfig.dump(config)))
    former = Former::QUESTION.fetch("config").merge("listen" => ["one"], "chosen" => [])
    assert_empty Former.lacking(former, sent)
  end

  private

  # The state with descriptors that are open.
  def with_descriptors(state)
    open = ->(_) { (@ios ||= []).push(File.open(File::NULL)).last.fileno }
    lists = %w[links metrics life_line].to_h { |name| [name, state.fetch(name).map(&open)] }
    listeners = %w[listeners control].to_h do |name|
      [name, state.fetch(name).map { |listener| listener.merge("fd" => open.call(listener)) }]
    end
    masters = state.fetch("masters").map { |carried, _| [carried, open.call(carried)] }
    state.merge(lists, listeners, "masters" => masters, "client" => open.call(nil))
  end

  def restored(carried)
    channel, other = Channel.pair
    (@channels ||= []).push(channel, other)
    process = Bontebok::ForkedProcess.new(carried.fetch("pid"), channel)
    Bontebok::Generation.new(nil, process).tap { |generation| generation.restore(carried) }
  end

  # Without the times.
  def told(carried) = carried.except("left", "seconds_ready")
end
