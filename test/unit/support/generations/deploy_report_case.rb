# frozen_string_literal: true

require "bontebok/bontebok"
require "bontebok/processes/generations/deploy_report"
require "bontebok/sockets/shared/totals"
require_relative "log_lines"

# For tests of DeployReport: a client that waits for the end, and the pipe of the master.
module DeployReportCase
  REPLACED = "another deploy has replaced this one"
  ENDED = "the new master has ended: exit status 1"
  ERROR = "2026-11-29T20:11:59.721Z error 24351 - g2 it is broken\n"

  # A client of the control socket.
  class Client
    attr_reader :heard, :finish_with

    def initialize = @heard = []
    def say(text) = @heard << text
    alias tell say
    def finish(*ending) = @finish_with = ending
    def leave = @left = true
    def closed? = @left == true
  end

  def setup
    @totals = Bontebok::Totals.open
    @log = LogLines.new
    @pipes = []
    @client = Client.new
  end

  def teardown
    [@totals, *@pipes].each(&:close)
    super
  end

  private

  # text: what the master has written.
  def report(text = "", number: 2, kind: :deploy, client: [@client])
    reader, @writer = IO.pipe
    @pipes.push(reader, @writer)
    @writer.write(text)
    reader = nil if kind == :rollback
    Bontebok::DeployReport.new(number, @totals, @log, kind: kind, clients: client, reader: reader)
  end

  def assert_deploys(counts, text = nil, only: "")
    metrics = @totals.memories.first
    found = metrics.totals[:names].transform_keys { |name| name.delete_prefix("deploy ") }
    assert_equal(counts, found.select { |name, _| name.include?(only) })
    assert_equal [text], [metrics.notes(:deploy).last&.last]
  end
end
