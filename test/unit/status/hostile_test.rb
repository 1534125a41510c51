# frozen_string_literal: true

require "json"
require "test_helper"
require "bontebok/status/csv"
require "bontebok/status/json"
require "bontebok/status/mackerel"
require "bontebok/status/puma"
require "bontebok/status/text"
require_relative "../support/status_case"

# A worker can write anything into the shared memory. Every form of any snapshot is made, and is safe for a terminal.
class HostileTest < Minitest::Test
  include StatusCase

  SNAPSHOTS = 600
  # Control characters (without the newline between lines), characters that steer or hide text.
  UNSAFE = /[[:cntrl:]&&[^\n]]|[\u0080-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/
  WORDS = ["serving", "request", "between", "T", "R", "S", "Z", "\e[2J\u202e", "futex_wait", "do_sys_poll", "deploy",
           "body", "stream", "\r\n", "a\u0085b\u2028", "-1", "failed: \u009b2J", "single"].freeze
  NUMBERS = [0, 1, -1, 2, 3.5, 11, 2**31, 2**63, (2**64) - 1, 2**64, -(2**64), Float::NAN, Float::INFINITY,
             -Float::INFINITY, 1e308, 1e-308, NOW, 1000.0].freeze
  # A field of a Snapshot or a key of one of its records that a rule asks for.
  KEYS = %i[number pid threads state run kernel taken silent tid cpu requests oldest length limit address responses
            rejected started label queue_time held text time max_queue workers trouble listeners mode].freeze

  def setup
    @random = Random.new(Integer(ENV.fetch("SEED", 38)))
  end

  def test_no_snapshot_raises_or_prints_control_characters
    earlier = nil
    SNAPSHOTS.times do |i|
      look = hostile(i)
      forms(look, earlier).each { |text| assert_safe text, i }
      earlier = look
    end
  end

  private

  def forms(look, earlier)
    csv = Bontebok::Status::Csv.line(look, earlier)
    assert_equal Bontebok::Status::Csv.header.count(","), csv.count(",")
    mackerel = Bontebok::Status::Mackerel.lines(look, earlier)
    assert_empty(mackerel.lines.grep_v(/\A[-\w.]+\t[-+.e\d]+\t\d+\n\z/))
    text = Bontebok::Status::Text
    json = [Bontebok::Status::Json.of(look, earlier), Bontebok::Status::Puma.of(look)].map do |form|
      JSON.generate(form).tap { |line| assert_kind_of Hash, JSON.parse(line) }
    end
    [text.screen(look, earlier), text.line(look, earlier), csv, mackerel.tr("\t", " "), *json]
  end

  def assert_safe(text, which)
    assert text.valid_encoding?, "snapshot #{which} is no UTF-8"
    refute_match UNSAFE, text, "snapshot #{which}"
    assert_operator text.lines.map(&:size).max, :<, 20_000 if text.include?("busy")
  end

  # Half of the snapshots have wrong values in the right places, half have anything anywhere.
  def hostile(index)
    fields = if index.even? then example.transform_values { |value| spoilt(value) }
             else Bontebok::Status::Snapshot::FIELDS.to_h { |name, _| [name, anything(3)] }
             end
    Bontebok::Status::Snapshot.new(**fields)
  end

  def example
    workers = Array.new(@random.rand(0..4)) do |n|
      threads = Array.new(@random.rand(0..4)) { |i| busy(i, @random.rand * 20, kernel: "futex_wait", cpu: 1.0) }
      worker(n, threads: threads, silent: @random.rand * 20)
    end
    { at: @random.rand * 1000, time: NOW, server: server(former: 1, max_queue: 2),
      waiting: { requests: 3, oldest: 1.0 }, accept_queues: [{ address: "a", length: 900, limit: 1000 }],
      totals: totals(rejected: { "queue_full" => 4 }), workers: workers,
      deploys: [{ time: NOW, text: "failed: x" }], ends: [{ time: NOW, text: "x" }] }
  end

  # Replaces one value in eight.
  def spoilt(value)
    return anything(2) if @random.rand(8).zero?

    case value
    when Hash then value.to_h { |key, item| [key, spoilt(item)] }
    when Array then value.map { |item| spoilt(item) }
    else value
    end
  end

  def anything(depth)
    case @random.rand(depth.positive? ? 8 : 5)
    when 0 then nil
    when 1 then NUMBERS.sample(random: @random)
    when 2 then WORDS.sample(random: @random)
    when 3 then @random.bytes(@random.rand(0..300))
    when 4 then [true, :serving, Object.new, "\u00e4".encode("UTF-16BE"), 1r].sample(random: @random)
    when 5, 6 then KEYS.sample(8, random: @random).to_h { |key| [key, anything(depth - 1)] }
    else Array.new(@random.rand(0..4)) { anything(depth - 1) }
    end
  end
end
