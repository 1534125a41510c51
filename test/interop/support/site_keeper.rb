# frozen_string_literal: true

module Interop
  # For classes of tests that share servers, because these start slowly. The tests define close_site.
  module SiteKeeper
    # Returns a test object that owns the servers. They run until all tests have ended.
    def site_keeper
      @site_keeper ||= new("site").tap { |keeper| Minitest.after_run { keeper.close_site } }
    end
  end
end
