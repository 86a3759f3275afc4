-- Locks of the dead without what nothing ever wrote or read: no version of the service named these.
ALTER TABLE "playerDeaths" DROP COLUMN "killedBy", DROP COLUMN recovered;
