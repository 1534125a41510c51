# frozen_string_literal: true

require "test_helper"
require_relative "../integration/support/asking_crowd"

# Workers pass thousands of connections to other workers. Afterwards, no process has more open descriptors than before.
class LoadPassedRequestsTest < Support::TestCase
  include Support::OnceMore
  include AskingCrowd

  PASSED = Support::Length.of(3_000, 10_000)

  def test_passing_on_thousands_of_connections_leaks_no_descriptor
    server = start_bontebok(listen: :tcp, args: %w[-w 4 -t 1 -E production], rackup: application_of(0.0003))
    server.wait_for_output(/ ready in /)
    before = descriptors(server)
    fates = asking(server) { eventually("#{PASSED} passed") { passed >= PASSED } }
    assert_empty fates.select(&:lost?)
    assert_equal fates.size, begun.size
    assert_no_more_descriptors(server, before)
  end
end
